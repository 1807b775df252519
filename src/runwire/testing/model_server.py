"""A model server on loopback that speaks OpenAI's Chat Completions and Anthropic's Messages, streaming, faults included.

The name of the model says how it behaves; a name that is not in `BEHAVIOURS` gets a short answer, so that real names, and
their prices, can be used. Requests are checked as the real servers check them: a conversation that they would refuse is
refused here.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from runwire.native.loop.state import Usage
from runwire.testing.model_http import LoopbackServer, Reply, Request
from runwire.testing.model_manners import complaint_of, count_images
from runwire.testing.model_wires import (
    Answer,
    Failure,
    ServedCall,
    anthropic_failure,
    anthropic_frames,
    anthropic_mid_failure,
    openai_failure,
    openai_frames,
    openai_mid_failure,
)

Wire = Literal["openai", "anthropic"]

KEY = "sk-test-0123456789abcdef"
"""The key that the server takes."""

TEXT = "Zwölf Boxkämpfer jagen Viktor: いろはにほへと 👩‍👩‍👧‍👦."
RETRY_AFTER_S = 7

_PATHS: Mapping[str, Wire] = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came. Header names are in small letters."""

    wire: Wire
    headers: Mapping[str, str]
    body: Mapping[str, object]

    @property
    def model(self) -> str:
        """The model that was asked for."""
        return str(self.body.get("model", ""))


Fault = Literal["mid", "drop", "malformed", "shapeless", "utf8", "truncated", "stall", "split", "halves"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a request is answered."""

    answer: Answer = field(default_factory=lambda: Answer(text=TEXT))
    fault: Fault | None = None
    failure: Failure | None = None
    silence: Literal["before_head", "after_head"] | None = None
    page: bytes | None = None
    """A body that is no stream of events."""
    hang_up: bool = False
    frames: Sequence[bytes] | None = None
    """The very bytes of the stream, for what no answer of ours would look like."""


def _fails(status: int, kind: str, message: str, *, code: str | None = None, **headers: str) -> Plan:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Plan(failure=Failure(status=status, kind=kind, message=message, code=code, headers=named))


_CALLS = (
    ServedCall("shell_exec", '{"command": "uname -s"}', "call_first"),
    ServedCall("file_read", '{"path": "größe.txt"}', "call_second"),
    ServedCall("todo_write", "{}", "call_third"),
)
_OVERLOADED = _fails(529, "overloaded_error", "Overloaded")

BEHAVIOURS: Mapping[str, Plan] = {
    "ok": Plan(),
    "empty": Plan(answer=Answer(usage=Usage(input_tokens=100, output_tokens=1))),
    "400": _fails(400, "invalid_request_error", "temperature is out of range"),
    "401": _fails(401, "authentication_error", "Incorrect API key provided", code="invalid_api_key"),
    "403": _fails(403, "permission_error", "Your key may not use this model"),
    "404": _fails(404, "not_found_error", "The model does not exist", code="model_not_found"),
    "413": _fails(413, "request_too_large", "Request exceeds the maximum size"),
    "429": _fails(429, "rate_limit_error", "Rate limit reached", code="rate_limit_exceeded", retry_after="7"),
    "429-ms": _fails(429, "rate_limit_error", "Rate limit reached", retry_after_ms="1500", retry_after="2"),
    "429-date": _fails(429, "rate_limit_error", "Slow down", retry_after="Fri, 01 Jan 2027 00:00:00 GMT"),
    "quota": _fails(429, "billing_error", "You exceeded your current quota", code="insufficient_quota"),
    "500": _fails(500, "api_error", "Internal server error"),
    "503": _fails(503, "api_error", "Service unavailable", retry_after="3"),
    "529": _OVERLOADED,
    "529x2": _OVERLOADED,
    "redirect": _fails(307, "moved", "elsewhere", location="http://127.0.0.1:9/v1"),
    "ctxlen": _fails(
        400,
        "invalid_request_error",
        "prompt is too long: 250000 tokens > 200000 maximum context length",
        code="context_length_exceeded",
    ),
    "notools": _fails(400, "invalid_request_error", "this model does not support tools"),
    "mid": Plan(fault="mid"),
    "drop": Plan(fault="drop"),
    "drop-early": Plan(hang_up=True),
    "malformed": Plan(fault="malformed"),
    "shapeless": Plan(fault="shapeless"),
    "utf8": Plan(fault="utf8"),
    "truncated": Plan(fault="truncated"),
    "html": Plan(page=b"<html><body>not an event stream</body></html>\n\n"),
    "hang": Plan(silence="after_head"),
    "silent": Plan(silence="before_head"),
    "stall": Plan(fault="stall"),
    "split": Plan(fault="split"),
    "halves": Plan(answer=Answer(text="AAAAAHIGHLOW!BBBBBHIGH"), fault="halves"),
    "length": Plan(answer=Answer(text="This is cut off by the lim", reason="max_tokens")),
    "refusal": Plan(answer=Answer(text="I can't help with that.", reason="refusal")),
    "tool": Plan(answer=Answer(text="Let me look.", calls=_CALLS[:1])),
    "parallel": Plan(answer=Answer(text="Three at once.", calls=_CALLS)),
    "badargs": Plan(answer=Answer(calls=[ServedCall("shell_exec", '{"command": "uname -', "call_bad")])),
    "same-ids": Plan(answer=Answer(calls=[ServedCall("a", "{}", "call_0"), ServedCall("b", "{}", "call_0")])),
    "thinking": Plan(answer=Answer(thinking="The person wants a number; I take 42.", text="42.")),
    "thinking-tool": Plan(answer=Answer(thinking="I need the kernel's name.", calls=_CALLS[:1])),
    "cached": Plan(
        answer=Answer(
            text=TEXT,
            usage=Usage(input_tokens=1000, output_tokens=20, cache_read_tokens=800, cache_write_tokens=150),
        )
    ),
}


class ModelServer(LoopbackServer):
    """Serves models until it is closed; `async with ModelServer() as server`."""

    def __init__(self, *, answers: Sequence[Answer] = (), plans: Mapping[str, Plan] = BEHAVIOURS) -> None:
        """The model named `script` gives these answers, one a call; the others do what `plans` say of their names."""
        super().__init__(self._take)
        self.requests: list[Asked] = []
        self._plans = plans
        self._answers = list(answers)
        self._failures: Counter[str] = Counter()

    def base_url(self, wire: Wire) -> str:
        """What an SDK of this wire is given as its base URL."""
        return f"{self.url}/v1" if wire == "openai" else self.url

    def environ(self) -> dict[str, str]:
        """The variables that make the providers `openai` and `anthropic` this server."""
        return {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": self.base_url("openai"),
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.base_url("anthropic"),
        }

    async def _take(self, request: Request, reply: Reply) -> None:
        if request.path not in _PATHS:
            raise ConnectionResetError(f"there is nothing at {request.path}")
        body = msgspec.json.decode(request.body, type=dict[str, object])
        asked = Asked(_PATHS[request.path], request.headers, body)
        self.requests.append(asked)
        await self.tell()
        await self._answer(asked, reply)

    def _plan(self, asked: Asked) -> Plan:
        key = asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")
        if key != KEY:
            return BEHAVIOURS["401"]
        if complaint := complaint_of(asked.wire, asked.body):
            return _fails(400, "invalid_request_error", complaint)
        if asked.model == "script" and self._answers:
            return Plan(answer=self._answers.pop(0))
        return self._behaviour(asked)

    def _behaviour(self, asked: Asked) -> Plan:
        if asked.model == "image":
            return Plan(answer=Answer(text=f"I see {count_images(asked.body)} pictures."))
        if asked.model == "529x2":
            self._failures["529x2"] += 1
        mended = asked.model == "529x2" and self._failures["529x2"] > 2
        if mended or (asked.model == "notools" and not asked.body.get("tools")):
            return Plan()
        return self._plans.get(asked.model, Plan())

    async def _answer(self, asked: Asked, reply: Reply) -> None:
        plan = self._plan(asked)
        if plan.hang_up:
            raise ConnectionResetError
        if plan.failure is not None:
            write = openai_failure if asked.wire == "openai" else anthropic_failure
            return await reply.whole(plan.failure.status, write(plan.failure), plan.failure.headers)
        if plan.silence == "before_head":
            return await reply.until_left()
        if plan.page is not None:
            return await reply.whole(200, plan.page, {"content-type": "text/html"})
        async with reply.stream() as send:
            if plan.silence == "after_head":
                return await reply.until_left()
            write_all = openai_frames if asked.wire == "openai" else anthropic_frames
            frames = plan.frames or [*write_all(plan.answer, model=asked.model)]
            await _play(frames, plan.fault, asked.wire, reply, send)
        return None


async def _play(
    frames: Sequence[bytes], fault: Fault | None, wire: Wire, reply: Reply, send: Callable[[bytes], Awaitable[None]]
) -> None:
    half = len(frames) // 2
    if fault is None:
        for frame in frames:
            await send(frame)
        return
    if fault == "split":
        # Cut without regard to frames, lines or characters, as a network does.
        whole = b"".join(frames)
        for start in range(0, len(whole), 7):
            await send(whole[start : start + 7])
        return
    if fault == "halves":
        # Each half of a pair of surrogates in a frame of its own.
        for frame in frames:
            await send(frame.replace(b"HIGH", b"\\ud83d").replace(b"LOW!", b"\\ude00"))
        return
    for frame in frames[:half]:
        await send(frame)
    match fault:
        case "drop":
            raise ConnectionResetError
        case "stall":
            await reply.until_left()
        case "mid" | "malformed" | "shapeless" | "utf8":
            await send(_broken(fault, wire))
            for frame in frames[half:] if fault != "mid" else ():
                await send(frame)


def _broken(fault: Fault, wire: Wire) -> bytes:
    failure = Failure(status=529, kind="overloaded_error", message="Overloaded in the middle", code="overloaded_error")
    if fault == "mid":
        return openai_mid_failure(failure) if wire == "openai" else anthropic_mid_failure(failure)
    opening = b"" if wire == "openai" else b"event: content_block_delta\n"
    bodies: dict[str, bytes] = {
        "malformed": b'{"type": "content_block_de',
        "shapeless": b'{"type": "content_block_delta", "choices": [{"delta": 42}], "index": "x", "delta": 42}',
        "utf8": b'{"type": "content_block_delta", "text": "\xff\xfe\xc3("}',
    }
    return opening + b"data: " + bodies[fault] + b"\n\n"
