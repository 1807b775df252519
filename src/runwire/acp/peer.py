"""JSON-RPC 2.0 with one editor: its requests in, our answers, news and questions out. Nothing it writes can break us."""

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from runwire.acp.pipes import Outbox, TooLong
from runwire.acp.refusals import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
    PARSE_ERROR,
    Refusal,
)
from runwire.acp.requests import Frame
from runwire.errors import RunwireError

Id = int | float | str | None
Handler = Callable[[msgspec.Raw, Id | UnsetType], Awaitable[object]]
"""Answers a request, given its parameters and its id; a notification has none."""
_T = TypeVar("_T")

_CODES = {400: INVALID_PARAMS, 404: NOT_FOUND, 422: INVALID_PARAMS}
_FRAME = msgspec.json.Decoder(Frame)
_ENCODER = msgspec.json.Encoder()
CANCEL_REQUEST = "$/cancel_request"


class Dismissed(Exception):
    """The editor does not answer a question of ours."""


class _Error(Struct, frozen=True):
    code: int
    message: str
    data: dict[str, object]


class _Reply(Struct, frozen=True, omit_defaults=True):
    jsonrpc: str
    id: Id
    result: object = UNSET
    error: _Error | UnsetType = UNSET


class _Sent(Struct, frozen=True, omit_defaults=True):
    jsonrpc: str
    method: str
    params: object
    id: int | UnsetType = UNSET


class Peer:
    """The other side of the wire."""

    def __init__(self, outbox: Outbox, tasks: asyncio.TaskGroup) -> None:
        """Answer by `outbox`; every request is dealt with in a task of its own, in the order in which they began."""
        self._outbox = outbox
        self._tasks = tasks
        self._methods: Mapping[str, Handler] = {}
        self._asked: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._last_id = 0

    def serve(self, methods: Mapping[str, Handler]) -> None:
        """Answer these requests from now on."""
        self._methods = methods

    # Out

    async def notify(self, method: str, params: object) -> None:
        """Tell the editor something, as soon as it has read most of what came before."""
        await self._outbox.room()
        self._outbox.put(_ENCODER.encode(_Sent(jsonrpc="2.0", method=method, params=params)))

    async def ask(self, method: str, params: object, kind: type[_T]) -> _T:
        """Ask the editor; Dismissed if it refuses. Whoever stops waiting takes the question back."""
        self._last_id += 1
        number = self._last_id
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        self._outbox.put(_ENCODER.encode(_Sent(jsonrpc="2.0", id=number, method=method, params=params)))
        try:
            return msgspec.json.decode(await answer, type=kind)
        except asyncio.CancelledError:
            taken_back = {"requestId": number}
            self._outbox.put(_ENCODER.encode(_Sent(jsonrpc="2.0", method=CANCEL_REQUEST, params=taken_back)))
            raise
        except msgspec.DecodeError as wrong:
            raise Dismissed(f"its answer cannot be read: {wrong}") from wrong
        finally:
            self._asked.pop(number, None)

    # In

    def take(self, line: bytes | TooLong) -> None:
        """Deal with what the editor wrote."""
        if isinstance(line, TooLong):
            self._refuse(None, Refusal(INVALID_REQUEST, "the message is too long", "send less at once"))
            return
        if not line.strip():
            return
        try:
            frame = _FRAME.decode(line)
        except (msgspec.ValidationError, UnicodeDecodeError) as wrong:
            self._refuse(None, Refusal(INVALID_REQUEST, f"not a request: {wrong}", "send one JSON-RPC object a line"))
            return
        except (msgspec.DecodeError, RecursionError) as wrong:
            self._refuse(None, Refusal(PARSE_ERROR, f"not JSON: {wrong}", "send one JSON-RPC object a line"))
            return
        if isinstance(frame.method, UnsetType):
            self._hear(frame)
        else:
            self._deal(frame, frame.method)

    def _hear(self, frame: Frame) -> None:
        if isinstance(frame.result, UnsetType) and frame.error is None:
            given = None if isinstance(frame.id, UnsetType) else frame.id
            self._refuse(given, Refusal(INVALID_REQUEST, "neither a request nor an answer", "name a method"))
            return
        # An answer to a question that was taken back, or that we never asked, is nobody's.
        future = self._asked.get(frame.id) if isinstance(frame.id, int) else None
        if future is None or future.done():
            return
        if isinstance(frame.result, UnsetType):
            future.set_exception(Dismissed(frame.error.message if frame.error is not None else "no result"))
        else:
            future.set_result(frame.result)

    def _deal(self, frame: Frame, method: str) -> None:
        handler = self._methods.get(method)
        params = msgspec.Raw(b"{}") if isinstance(frame.params, UnsetType) else frame.params
        given = frame.id
        if handler is None:
            what = f"there is no method {method[:64]!r}"
            self._refuse(given, Refusal(METHOD_NOT_FOUND, what, "initialize says what this agent can do"))
            return
        self._tasks.create_task(self._answer(given, handler, params))

    async def _answer(self, given: Id | UnsetType, handler: Handler, params: msgspec.Raw) -> None:
        try:
            result = await handler(params, given)
        except Refusal as refusal:
            self._refuse(given, refusal)
        except RunwireError as error:
            number = _CODES.get(error.status, INTERNAL_ERROR)
            self._refuse(given, Refusal(number, error.message, error.hint, {"code": error.code, **error.details}))
        except Exception:  # noqa: BLE001 - one request that goes wrong must not end the others
            traceback.print_exc(file=sys.stderr)
            self._refuse(given, Refusal(INTERNAL_ERROR, "the request failed here", "stderr says why"))
        else:
            if not isinstance(given, UnsetType):
                self._outbox.put(_ENCODER.encode(_Reply(jsonrpc="2.0", id=given, result=result)))

    def _refuse(self, given: Id | UnsetType, refusal: Refusal) -> None:
        if isinstance(given, UnsetType):
            # Nobody waits for an answer to a notification.
            return
        error = _Error(refusal.code, str(refusal), refusal.data)
        self._outbox.put(_ENCODER.encode(_Reply(jsonrpc="2.0", id=given, error=error)))


def read(params: msgspec.Raw, kind: type[_T]) -> _T:
    """The parameters of a request; a Refusal that names the place where they are not what they should be."""
    try:
        return msgspec.json.decode(params, type=kind)
    except msgspec.DecodeError as wrong:
        raise Refusal(
            INVALID_PARAMS, f"the parameters cannot be used: {wrong}", "send what the protocol says"
        ) from wrong
