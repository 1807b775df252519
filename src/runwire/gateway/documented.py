"""What the routes take and give, in the words of JSON Schema: the part of the page of routes that is only read."""

from runwire import errors
from runwire.gateway import artifacts, runs
from runwire.gateway.operation import Parameter, Reply, Schema, json
from runwire.gateway.parameters import LIMIT_DEFAULT, LIMIT_MAX
from runwire.journal.artifact import KINDS, STATUSES
from runwire.protocol.schema import ROOT as SCHEMAS

TEXT: Schema = {"type": "string"}
BYTES: Schema = {"type": "string", "format": "binary"}
OBJECT: Schema = {"type": "object"}
_SEQUENCE: Schema = {"type": "integer", "minimum": -1}
_LIST: Schema = {"const": "list"}
_MORE: Schema = {"type": "boolean"}
_ENVELOPE: Schema = {
    "type": "object",
    "description": f"An event; its schema is {SCHEMAS}event.json",
    "required": ["schema_version", "event_id", "run_id", "sequence", "occurred_at", "type", "data"],
}
_ENVELOPES: Schema = {"type": "array", "items": _ENVELOPE}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


def at_most(default: int, maximum: int) -> Parameter:
    """How long a page may be."""
    schema: Schema = {"type": "integer", "minimum": 1, "maximum": maximum, "default": default}
    return Parameter("limit", "How many at most.", schema)


def named(name: str, about: str) -> Parameter:
    """A filter by id or name."""
    return Parameter(name, about, {"type": "string", "minLength": 1, "maxLength": 128})


def several(name: str, about: str) -> Parameter:
    """A filter by any of some ids or names."""
    pattern = "^[^,]{1,128}(,[^,]{1,128}){0,99}$"
    return Parameter(name, f"{about} A comma list.", {"type": "string", "pattern": pattern})


def yes_or_no(name: str, about: str) -> Parameter:
    """A filter by a fact."""
    return Parameter(name, about, {"type": "string", "enum": ["true", "false"]})


_STATUS = "|".join(sorted(runs.STATUSES))
RUN_STATUSES: Schema = {"type": "string", "pattern": f"^({_STATUS})(,({_STATUS}))*$"}
ID_PREFIX = named("id_prefix", "Those whose id begins so only.")
_PLACE: Schema = {"type": "string", "pattern": "^[0-9]{1,18}$"}
CURSOR = Parameter("cursor", "Where an earlier answer ended, as it said.", _PLACE)
_FEED_PLACE: Schema = {"type": "string", "pattern": "^AQ[A-Za-z0-9_-]{10}$"}
FEED_CURSOR = Parameter("cursor", "Where an earlier answer ended, as it said.", _FEED_PLACE)
_TYPES: Schema = {"type": "string", "pattern": r"^[a-z0-9_.*]+(,[a-z0-9_.*]+)*$", "maxLength": 2048}
TYPE = Parameter("type", "Comma list of types; `*` stands for any text, dots included.", _TYPES)
_KEYS: Schema = {"type": "string", "pattern": "^[!-~]{1,255}$"}

SINCE = Parameter(
    "since", "What occurred at this moment or later (RFC 3339).", {"type": "string", "format": "date-time"}
)
UNTIL = Parameter("until", "What occurred before this moment (RFC 3339).", {"type": "string", "format": "date-time"})
KEY = Parameter("Idempotency-Key", "Makes the request safe to repeat.", _KEYS, "header")
AGENT = Parameter("agent", "Who the run is ascribed to.", {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"})
RUN_PARAMETERS = (
    Parameter("after_sequence", "The last sequence you have; -1 for everything.", _SEQUENCE),
    Parameter("Last-Event-ID", "The same, and beats it.", _SEQUENCE, "header"),
    TYPE,
    at_most(LIMIT_DEFAULT, LIMIT_MAX),
)
FEED_PARAMETERS = (
    FEED_CURSOR,
    Parameter("from", "Where to begin without a cursor.", {"type": "string", "enum": ["now", "start"]}),
    TYPE,
    named("run_id", "Events of this run only."),
    named("task_id", "Events of this task's runs only."),
    named("session_id", "Events of this session's runs only."),
    named("agent", "Events of this agent's runs only."),
    SINCE,
)
FEED_LIST_PARAMETERS = (*FEED_PARAMETERS, at_most(LIMIT_DEFAULT, LIMIT_MAX))
FEED_STREAM_PARAMETERS = (*FEED_PARAMETERS, Parameter("Last-Event-ID", "Beats `cursor`.", _FEED_PLACE, "header"))
RUNS_PARAMETERS = (
    Parameter("status", "Runs of this status only.", {"type": "string", "enum": sorted(runs.STATUSES)}),
    named("session_id", "Runs of this session only."),
    named("agent", "Runs of this agent only."),
    ID_PREFIX,
    at_most(runs.LIMIT_DEFAULT, runs.LIMIT_MAX),
    CURSOR,
)
ARTIFACTS_PARAMETERS = (
    Parameter("kind", "Artifacts of this kind only.", {"type": "string", "enum": sorted(KINDS)}),
    named("run_id", "Artifacts of this run only."),
    named("task_id", "Artifacts of this task only."),
    Parameter("status", "Patches of this status only.", {"type": "string", "enum": sorted(STATUSES)}),
    ID_PREFIX,
    at_most(artifacts.LIMIT_DEFAULT, artifacts.LIMIT_MAX),
    CURSOR,
)
RAW_PARAMETERS = (
    Parameter("Range", "The bytes you want.", TEXT, "header"),
    Parameter("If-Range", "Only if the body still has this tag.", TEXT, "header"),
    Parameter("If-None-Match", "Only if the body has another tag.", TEXT, "header"),
)
FILE_PARAMETERS = (RAW_PARAMETERS[-1], Parameter("Accept-Encoding", "Whether it may be packed.", TEXT, "header"))

_RUN_PAGE = _object(object=_LIST, data=_ENVELOPES, has_more=_MORE, next_after_sequence=_SEQUENCE)
_FEED_PAGE = _object(object=_LIST, data=_ENVELOPES, has_more=_MORE, next_cursor=TEXT)
RUN_REPLIES = (
    Reply(
        "The events, as Accept asks for them: a list, a live stream, or a file.",
        200,
        {"application/json": _RUN_PAGE, "text/event-stream": TEXT, "application/x-ndjson": TEXT},
    ),
    Reply("The run is over and you have all of it.", 204),
)
FEED_REPLIES = json(_FEED_PAGE, "Some events of all runs.")
FEED_STREAM_REPLIES = (Reply("All runs' events, live.", 200, {"text/event-stream": TEXT}),)
APPEND_REPLIES = json(
    {"anyOf": [_ENVELOPE, _object(object=_LIST, data=_ENVELOPES)]}, "The stored event, or the stored events.", 201
)
RAW_REPLIES = (
    Reply("The whole body.", 200, {"*/*": BYTES}),
    Reply("The range that was asked for.", 206, {"*/*": BYTES}),
    Reply("You have it already.", 304),
)
NOTHING = (Reply("It is done.", 204),)

NEW_EVENT: Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "pattern": r"^external(\.[a-z][a-z0-9_]*)+$", "maxLength": 128},
        "data": OBJECT,
    },
}
NEW_EVENTS: Schema = {
    "oneOf": [
        NEW_EVENT,
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["events"],
            "properties": {"events": {"type": "array", "items": NEW_EVENT, "minItems": 1, "maxItems": 1000}},
        },
    ]
}

FEED_REFUSALS = (errors.InvalidCursor, errors.CursorAhead, errors.InvalidLimit, errors.InvalidFilter)
RUN_REFUSALS = (errors.RunNotFound, *FEED_REFUSALS)
LIST_REFUSALS = (errors.InvalidCursor, errors.InvalidLimit, errors.InvalidFilter)
BODY_REFUSALS = (errors.InvalidBody, errors.UnknownField)
APPEND_REFUSALS = (*BODY_REFUSALS, errors.RunNotFound, errors.TypeNotAllowed, errors.RunFinished)
IMPORT_REFUSALS = (errors.ImportInvalid, errors.SecretInImport, errors.ImportConflict, errors.InvalidFilter)
