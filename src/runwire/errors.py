"""Every deliberate failure, in one tree. A code is a promise to callers; a message is for people and may be reworded.

RunwireError
├── NotFound         404  the thing is not there
├── InvalidRequest   400  the question makes no sense
├── InvalidContent   422  what was sent cannot be taken (413 when there is too much of it)
├── Refused          403  the caller may not do this (401 when we do not know the caller)
├── Conflict         409  the thing is in no state for this
├── StoreError       5xx  the journal cannot keep or give what was asked
├── Unavailable      503  this process cannot serve now
├── ConfigInvalid         a setting makes no sense
└── GatewayError          what a client learns from a gateway (GatewayUnreachable: or about it)
"""

from collections.abc import Mapping


class RunwireError(Exception):
    """A failure that we foresaw: what happened, what to do about it, and the facts a program may want."""

    code: str = "internal_error"
    status: int = 500
    hint: str = "the gateway's log has the cause under this request id"

    def __init__(self, message: str = "", *, hint: str = "", details: Mapping[str, object] | None = None) -> None:
        # A class says in its docstring what happened; unless there is more to say, so does its failure.
        promise = (type(self).__doc__ or self.code).partition("\n")[0].rstrip(".")
        self.message = message or promise[0].lower() + promise[1:]
        self.hint = hint or self.hint
        self.details: dict[str, object] = dict(details or {})
        super().__init__(self.message)


class NotFound(RunwireError):
    """The thing that was asked for is not there."""

    code, status = "not_found", 404
    hint = "GET /hecate/v1/openapi.json lists every path"


class RunNotFound(NotFound):
    """No such run, or not in the task that was named."""

    code = "run_not_found"
    hint = "check the id; a run whose whole log was pruned is gone"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no run {_quote(run_id)}", details={"run_id": _quote(run_id)})


class TaskNotFound(NotFound):
    """No such task."""

    code = "task_not_found"
    hint = "check the id; GET /hecate/v1/tasks lists the tasks there are"

    def __init__(self, task_id: str) -> None:
        super().__init__(f"there is no task {_quote(task_id)}", details={"task_id": _quote(task_id)})


class ArtifactNotFound(NotFound):
    """No such artifact."""

    code = "artifact_not_found"
    hint = "`artifact.created` events carry the ids; an artifact goes with its run unless it is pinned"

    def __init__(self, artifact_id: str) -> None:
        super().__init__(f"there is no artifact {_quote(artifact_id)}", details={"artifact_id": _quote(artifact_id)})


class TokenNotFound(NotFound):
    """No such token."""

    code = "token_not_found"
    hint = "`runwire token list` shows the tokens there are"

    def __init__(self, token_id: str) -> None:
        super().__init__(f"there is no token {_quote(token_id)}", details={"token_id": _quote(token_id)})


class InvalidRequest(RunwireError):
    """The request makes no sense as it was put."""

    code, status = "invalid_request", 400
    hint = "GET /hecate/v1/openapi.json says what this path takes"


class InvalidCursor(InvalidRequest):
    """The cursor is not a place in a log."""

    code = "invalid_cursor"
    hint = "send the last sequence you have, or -1 for everything; send a feed's cursor back exactly as it came"

    def __init__(self, cursor: str) -> None:
        super().__init__(f"{_quote(cursor)!r} is not a cursor", details={"cursor": _quote(cursor)})


class CursorAhead(InvalidRequest):
    """The cursor lies beyond the end of the log, so its owner remembers events that are not there."""

    code = "cursor_ahead"
    hint = "this log is not the one that the cursor came from; read again from -1"

    def __init__(self, cursor: int, *, head: int) -> None:
        super().__init__(f"cursor {cursor} lies beyond the head of the log, which is {head}", details={"head": head})


class InvalidLimit(InvalidRequest):
    """The limit is not a whole number, or out of range."""

    code = "invalid_limit"

    def __init__(self, limit: str, *, maximum: int) -> None:
        hint = f"send a whole number from 1 to {maximum}, or leave it out"
        super().__init__(f"{_quote(limit)!r} is not a limit", hint=hint, details={"minimum": 1, "maximum": maximum})


class InvalidFilter(InvalidRequest):
    """A filter cannot be understood."""

    code = "invalid_filter"
    hint = "types are a comma list in which * matches anything; times are RFC 3339 with an offset"

    def __init__(self, parameter: str, value: str) -> None:
        super().__init__(f"{parameter} cannot be {_quote(value)!r}", details={"parameter": parameter})


class InvalidRange(InvalidRequest):
    """The byte range lies outside the body."""

    code, status = "invalid_range", 416
    hint = "ask for bytes within the size, or leave the Range header out"

    def __init__(self, size: int) -> None:
        super().__init__(f"that range lies outside the {size} bytes there are", details={"size": size})


class MethodNotAllowed(InvalidRequest):
    """The path is there, but not for this method."""

    code, status = "method_not_allowed", 405

    def __init__(self, method: str, *, allowed: tuple[str, ...]) -> None:
        hint = f"it takes {', '.join(allowed)}"
        super().__init__(f"this path does not take {_quote(method)}", hint=hint, details={"allowed": list(allowed)})


class MalformedRequest(InvalidRequest):
    """What was sent is not HTTP."""

    code = "malformed_request"
    hint = "speak HTTP/1.1; TLS and HTTP/2 end at a proxy in front of the gateway"


class HeadersTooLarge(InvalidRequest):
    """The request's head is larger than the gateway reads."""

    code, status = "headers_too_large", 431
    hint = "send fewer or shorter headers; filters that are long belong in several requests"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the head passes {limit_bytes} bytes", details={"limit_bytes": limit_bytes})


class RequestTimeout(InvalidRequest):
    """The request did not arrive in time."""

    code, status = "request_timeout", 408
    hint = "send the request in one go"


class InvalidContent(RunwireError):
    """What was sent cannot be taken."""

    code, status = "invalid_content", 422
    hint = "`runwire schema` prints what an event takes, /hecate/v1/openapi.json what a body takes"


class InvalidBody(InvalidContent):
    """The body is not of the shape that this path takes."""

    code = "invalid_body"

    def __init__(self, problem: str) -> None:
        super().__init__(f"the body cannot be read: {problem}")


class UnknownField(InvalidContent):
    """The body has a field that this path does not know."""

    code = "unknown_field"
    hint = "check the spelling, or leave the field out"

    def __init__(self, field: str) -> None:
        super().__init__(f"there is no field {_quote(field)!r}", details={"field": _quote(field)})


class BodyTooLarge(InvalidContent):
    """The body is larger than this path takes."""

    code, status = "body_too_large", 413
    hint = "send less at a time; large content belongs in an artifact"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body passes {limit_bytes} bytes", details={"limit_bytes": limit_bytes})


class QuotaExceeded(InvalidContent):
    """The task has no room left for another artifact."""

    code, status = "quota_exceeded", 413
    hint = "prune runs of this task, or raise artifact_quota_bytes"

    def __init__(self, task_id: str, *, quota_bytes: int) -> None:
        message = f"the artifacts of {task_id} would pass {quota_bytes} bytes"
        super().__init__(message, details={"task_id": task_id, "quota_bytes": quota_bytes})


class ImportInvalid(InvalidContent):
    """A file of envelopes breaks a rule of the protocol, so nothing of it was taken."""

    code = "import_invalid"
    hint = "`runwire verify FILE` names the first breach"

    def __init__(self, problem: str, *, line: int) -> None:
        super().__init__(f"line {line}: {problem}", details={"line": line})


class SecretInImport(InvalidContent):
    """A file of envelopes holds a secret of this process; its bytes may not be changed, so it is not taken."""

    code = "secret_in_import"
    hint = "redact the file where it was made; an import never alters what it keeps"

    def __init__(self, *, line: int, kind: str) -> None:
        super().__init__(f"line {line} holds a known secret ({kind})", details={"line": line, "kind": kind})


class Refused(RunwireError):
    """The caller may not do this."""

    code, status = "refused", 403
    hint = "ask whoever runs this gateway"


class Unauthorized(Refused):
    """This needs a token that the gateway knows."""

    code, status = "unauthorized", 401
    hint = "send `Authorization: Bearer <token>`; `runwire token create` makes one"


class Forbidden(Refused):
    """The token is known, but not good for this."""

    code = "forbidden"

    def __init__(self, scope: str) -> None:
        hint = f"ask for a token with that scope: `runwire token create --scope {scope}` makes one"
        super().__init__(f"this needs a token with the scope {scope!r}", hint=hint, details={"scope": scope})


class TypeNotAllowed(Refused):
    """Outside callers may append only `external.*` events."""

    code = "type_not_allowed"
    hint = "name the type external.NAME; every other type is written by the gateway itself"

    def __init__(self, event_type: str) -> None:
        super().__init__(f"outsiders cannot append {_quote(event_type)!r}", details={"type": _quote(event_type)})


class HostNotAllowed(Refused):
    """The request was addressed to a name that is not ours, as it would be by a rebound DNS name."""

    code = "host_not_allowed"
    hint = "use 127.0.0.1 or localhost, or add the name to allowed_hosts"

    def __init__(self, host: str) -> None:
        super().__init__(f"this gateway does not answer to {_quote(host)!r}", details={"host": _quote(host)})


class OriginNotAllowed(Refused):
    """The request was made by a page of another site."""

    code = "origin_not_allowed"
    hint = "add the origin to allowed_origins if you trust that site with this gateway"

    def __init__(self, origin: str) -> None:
        super().__init__(f"pages from {_quote(origin)!r} may not call this gateway", details={"origin": _quote(origin)})


class Conflict(RunwireError):
    """The thing is in no state for this."""

    code, status = "conflict", 409
    hint = "read it again and decide anew"


class GatewayRunning(Conflict):
    """Another gateway is serving this data directory."""

    code = "gateway_running"
    hint = "use that one, stop it first, or give this one a directory of its own with --data"


class RunExists(Conflict):
    """A run of that id is already here, and ids are given once."""

    code = "run_exists"
    hint = "leave the id out and one is made"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there already is a run {_quote(run_id)}", details={"run_id": _quote(run_id)})


class RunActive(Conflict):
    """The run is not over yet, and this needs it to be."""

    code = "run_active"
    hint = "wait for it to end, or cancel it"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"{run_id} is still active", details={"run_id": run_id})


class RunFinished(Conflict):
    """The run is over, so nothing of this kind can follow."""

    code = "run_finished"

    def __init__(self, run_id: str) -> None:
        hint = f"`runwire events {run_id}` prints how it ended"
        super().__init__(f"{run_id} is finished", hint=hint, details={"run_id": run_id})


class StaleLease(Conflict):
    """The writer's lease on the run has passed to another; nothing was stored."""

    code = "stale_lease"
    hint = "stop writing: another worker owns this run now"

    def __init__(self, run_id: str, *, given: int, current: int) -> None:
        message = f"lease {given} on {run_id} is stale, the current one is {current}"
        super().__init__(message, details={"run_id": run_id, "given": given, "current": current})


class SequenceConflict(Conflict):
    """Another event already stands at that place in the log; nothing was stored."""

    code = "sequence_conflict"
    hint = "read the run's head and append after it"

    def __init__(self, run_id: str, *, sequence: int) -> None:
        super().__init__(f"{run_id} already has sequence {sequence}", details={"run_id": run_id, "sequence": sequence})


class AlreadyResolved(Conflict):
    """The approval has another answer already, and the first one wins."""

    code = "already_resolved"
    hint = "the first answer stands; details.decision says which it was"

    def __init__(self, approval_id: str, *, decision: str) -> None:
        super().__init__(f"{approval_id} is {decision}", details={"approval_id": approval_id, "decision": decision})


class ImportConflict(Conflict):
    """The run is already here with other bytes."""

    code = "import_conflict"

    def __init__(self, run_id: str, *, sequence: int) -> None:
        message = f"{run_id} is already here and differs at sequence {sequence}"
        hint = f"`runwire export {run_id}` prints what is here; compare before you drop either"
        super().__init__(message, hint=hint, details={"run_id": run_id, "sequence": sequence})


class IdempotencyConflict(Conflict):
    """The idempotency key was used before, for another request."""

    code = "idempotency_conflict"
    hint = "use a new key for a new request"

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {_quote(key)!r} belongs to another request", details={"key": _quote(key)})


class StoreError(RunwireError):
    """The store failed. What was not acknowledged is not promised to be there."""

    code = "store_failed"
    hint = "`runwire doctor` looks at the data directory and says what is wrong"


class StoreBusy(StoreError):
    """Another process holds the database."""

    code, status = "store_busy", 503
    hint = "try again; if it lasts, find the process that holds the database"


class StoreFull(StoreError):
    """The disk has no room for another event."""

    code, status = "store_full", 507
    hint = "free some disk, or `runwire prune`; appending resumes by itself"


class StoreReadOnly(StoreError):
    """The database cannot be written."""

    code, status = "store_read_only", 503
    hint = "check the rights and the mount of the data directory; appending resumes by itself"


class StoreUnavailable(StoreError):
    """The disk answered with an error."""

    code, status = "store_unavailable", 503
    hint = "look at the disk under the data directory; appending resumes by itself when it answers again"

    def __init__(self, problem: str) -> None:
        super().__init__(f"the database cannot be reached, so nothing was stored: {problem}")


class StoreCorrupt(StoreError):
    """Stored bytes are not what they were when they were written."""

    code = "store_corrupt"
    hint = "restore the latest backup; `runwire verify` tells which runs are whole"

    def __init__(self, problem: str) -> None:
        super().__init__(f"the store is damaged: {problem}")


class StoreTooNew(StoreError):
    """The database was written by a later release, and this one would damage it."""

    code = "store_too_new"
    hint = "use the release that wrote it, or a later one; there is no way down"

    def __init__(self, *, found: int, known: int) -> None:
        super().__init__(f"the layout is {found}, known are up to {known}", details={"found": found, "known": known})


class Unavailable(RunwireError):
    """This process cannot serve now; another one, or this one later, may."""

    code, status = "unavailable", 503
    hint = "try again in a moment"


class ShuttingDown(Unavailable):
    """The process is ending."""

    code = "shutting_down"


class TooManyConnections(Unavailable):
    """The gateway holds as many connections as it may."""

    code = "too_many_connections"
    hint = "close streams that nobody reads, or raise max_connections"


class ConfigInvalid(RunwireError):
    """A setting is unknown or makes no sense, so nothing was started."""

    code = "config_invalid"
    hint = "docs/reference/config.md lists the settings there are"

    def __init__(self, source: str, problem: str, *, key: str = "") -> None:
        super().__init__(f"{source}: {problem}", details={"source": source, "key": key})


class GatewayError(RunwireError):
    """A gateway answered with an error, repeated here as it came."""

    code = "gateway_error"

    def __init__(self, message: str, *, code: str, status: int, hint: str, details: Mapping[str, object]) -> None:
        super().__init__(message, hint=hint, details=details)
        self.code, self.status = code, status


class GatewayUnreachable(GatewayError):
    """No gateway answers at that address."""

    code, status = "gateway_unreachable", 503
    hint = "`runwire up` starts one; --url or RUNWIRE_URL says where it is"

    def __init__(self, url: str, *, cause: str) -> None:
        message = f"cannot reach the gateway at {url}: {cause}"
        super().__init__(message, code=self.code, status=self.status, hint=self.hint, details={"url": url})


def _quote(text: str, most: int = 64) -> str:
    # What a stranger sent is quoted in an answer only so far.
    return text if len(text) <= most else f"{text[:most]}…"
