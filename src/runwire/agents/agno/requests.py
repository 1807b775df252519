"""What is sent to an AgentOS, as values: who sends them is not in here.

The server checks little. It runs a call again when it is told twice to go on, takes calls that nobody paused for, and a
decision that is none for a rejection. So a pause is kept here, and what does not fit to it never becomes a request.
"""

from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, quote_plus, urlencode

import msgspec

from runwire.agents.agno.deciding import (
    Decision,
    RequestRefused,
    require_fit,
    requirement_changes,
    step_changes,
    tool_changes,
)
from runwire.agents.agno.frames import Paused
from runwire.agents.agno.pausing import Object, Of, Waiting, field_of, fields_of, waits_of

FIELD_MAX_BYTES = 1024 * 1024
"""The server refuses a longer form field."""

_URL_ENCODED = "application/x-www-form-urlencoded"
_BOUNDARY = "runwire-form-boundary"

_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a request is for."""

    of: Of
    name: str
    """The id of the agent, team or workflow at the server."""

    @property
    def path(self) -> str:
        """Where its runs are."""
        if not self.name:
            raise RequestRefused(f"the id of the {self.of} is missing")
        return f"/{self.of}s/{quote(self.name, safe='')}/runs"


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Forms are the only bodies that the server takes."""

    method: str
    path: str
    form: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()

    @property
    def url(self) -> str:
        """Path and query."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def content_type(self) -> str:
        """How the body is written: as parts where a field is longer in the other way than the server takes."""
        for name, value in self.form:
            if len(name) + len(quote_plus(value)) > FIELD_MAX_BYTES:
                return f"multipart/form-data; boundary={self._boundary}"
        return _URL_ENCODED

    @property
    def body(self) -> bytes:
        """The form."""
        if self.content_type == _URL_ENCODED:
            return urlencode(self.form).encode()
        boundary = self._boundary
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in self.form
        ]
        return "".join([*parts, f"--{boundary}--\r\n"]).encode()

    @property
    def _boundary(self) -> str:
        """A line that stands in none of the fields."""
        boundary = _BOUNDARY
        while any(boundary in value for _, value in self.form):
            boundary += "-"
        return boundary


@dataclass(slots=True)
class Pause:
    """One pause of a run: what it waits for, and what was decided. It is answered once, and whole."""

    of: Of
    run_id: str
    session_id: str
    frame: Paused
    waits: dict[str, Waiting]
    decided: dict[str, Decision] = field(default_factory=dict)
    is_spent: bool = False
    """Whether its answer was sent, or may have been."""

    @classmethod
    def seen(cls, frame: Paused, of: Of, *, run_id: str = "", session_id: str = "") -> Self:
        """The pause that an event tells of, or the output of a run that was asked how it is."""
        waits = {wait.key: wait for wait in waits_of(frame, of)}
        return cls(of, frame.run_id or run_id, frame.session_id or session_id, frame, waits)

    @property
    def approvals(self) -> frozenset[str]:
        """What it asks for. Calls may be named like earlier ones; questions are not."""
        return frozenset(wait.approval_id for wait in self.waits.values())

    @property
    def undecided(self) -> tuple[str, ...]:
        """The ids that nothing was decided about yet."""
        return tuple(key for key in self.waits if key not in self.decided)

    def decide(self, key: str, decision: Decision | None) -> None:
        """Keep a decision. It must name what is paused now, it must fit, and it is never taken twice."""
        wait = self.waits.get(key)
        if wait is None:
            raise RequestRefused(f"{key[:64]!r} is not what the run waits for")
        if self.is_spent or key in self.decided:
            raise RequestRefused(f"{key}: it was decided before")
        require_fit(wait, decision)
        if decision is not None:
            self._changed(wait, decision)
            self.decided[key] = decision

    def spend(self) -> tuple[str, str]:
        """The form field that answers the pause, by name and value. A second time there is none."""
        if self.is_spent:
            raise RequestRefused("the run was told to go on before, and would do again what it did")
        if not self.waits:
            raise RequestRefused("the run waits for nothing")
        if self.undecided:
            raise RequestRefused(f"{self.undecided[0]}: nothing was decided about it, and all of it is sent at once")
        if self.of == "workflow":
            answer = [self._step(step) for step in self.frame.step_requirements or ()]
        else:
            answer = [self._changed(wait, self.decided[key]) for key, wait in self.waits.items()]
        self.is_spent = True
        return field_of(self.of), _ENCODER.encode(answer).decode()

    def remembered(self) -> bytes:
        """The pause without its decisions, for a process that comes after this one."""
        told = {
            "of": self.of,
            "run_id": self.run_id,
            "session_id": self.session_id,
            "frame": self.frame,
            "is_spent": self.is_spent,
        }
        return _ENCODER.encode(told)

    @classmethod
    def recalled(cls, data: bytes) -> Self:
        """The pause that an earlier process remembered."""
        told = msgspec.json.decode(data, type=_Remembered)
        pause = cls.seen(told.frame, told.of, run_id=told.run_id, session_id=told.session_id)
        pause.is_spent = told.is_spent
        return pause

    def _changed(self, wait: Waiting, decision: Decision) -> Object:
        """What goes back for one thing: the object as it came, with the decision in it."""
        if not wait.tool:
            return {**(wait.step or {}), **step_changes(wait, decision)}
        tool = {**wait.tool, **tool_changes(wait, decision)}
        if self.of == "agent":
            return tool
        return {**(wait.requirement or {}), "tool_execution": tool, **requirement_changes(wait, decision)}

    def _step(self, step: Object) -> Object:
        own = [wait for wait in self.waits.values() if wait.step is step]
        if not own or not own[0].tool:
            return self._changed(own[0], self.decided[own[0].key]) if own else step
        changed = {id(wait.requirement): self._changed(wait, self.decided[wait.key]) for wait in own}
        inner = [changed.get(id(one), one) for one in fields_of(step.get("executor_requirements"))]
        return {**step, "executor_requirements": inner}


class _Remembered(msgspec.Struct):
    of: Of
    run_id: str
    session_id: str
    frame: Paused
    is_spent: bool


def start(
    target: Target,
    message: str,
    *,
    session_id: str = "",
    user_id: str = "",
    run_id: str = "",
    background: bool = False,
) -> Request:
    """Begin a run. `stream` is always said, for what its absence means has changed."""
    if not message.strip():
        raise RequestRefused("the message is empty")
    given = (
        ("message", message),
        ("stream", "true"),
        ("session_id", session_id),
        ("user_id", user_id),
        ("run_id", run_id),
        ("background", "true" if background else ""),
    )
    return Request("POST", target.path, _form(given))


def go_on(target: Target, pause: Pause, *, user_id: str = "", background: bool = False) -> Request:
    """Answer a pause. It is spent by this, whatever comes of the request: what was sent may have been done."""
    if pause.of != target.of:
        raise RequestRefused(f"the pause is a {pause.of}'s, and the request a {target.of}'s")
    if not pause.session_id:
        raise RequestRefused("the session of the run is not known, and the server asks for it")
    path = f"{target.path}/{_run(pause.run_id)}/continue"
    before = pause.is_spent
    name, value = pause.spend()
    given = (
        (name, value),
        ("session_id", pause.session_id),
        ("user_id", user_id),
        ("stream", "true"),
        ("background", "true" if background else ""),
    )
    try:
        return Request("POST", path, _form(given))
    except RequestRefused:
        pause.is_spent = before
        raise


def cancel(target: Target, run_id: str, *, session_id: str = "") -> Request:
    """Ask a run to stop. That the server says yes means nothing: the stream tells whether it did."""
    query = (("session_id", session_id),) if session_id else ()
    return Request("POST", f"{target.path}/{_run(run_id)}/cancel", query=query)


def resume(target: Target, run_id: str, *, session_id: str, last_event_index: int = -1) -> Request:
    """Take up the stream of a background run behind the last event that was seen."""
    given = (("last_event_index", str(max(-1, last_event_index))), ("session_id", session_id))
    return Request("POST", f"{target.path}/{_run(run_id)}/resume", _form(given))


def poll(target: Target, run_id: str, *, session_id: str) -> Request:
    """Ask how a run is."""
    query = (("session_id", session_id),) if session_id else ()
    return Request("GET", f"{target.path}/{_run(run_id)}", query=query)


def _run(run_id: str) -> str:
    if not run_id:
        raise RequestRefused("the id of the run is missing")
    return quote(run_id, safe="")


def _form(given: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    form = tuple((name, value) for name, value in given if value)
    for name, value in form:
        size = len(value.encode("utf-8", "replace"))
        if size > FIELD_MAX_BYTES:
            raise RequestRefused(f"{name} has {size} bytes; the server takes {FIELD_MAX_BYTES}")
    return form
