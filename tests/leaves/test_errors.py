"""What every error promises: a code of its own, a fitting status, words that say what happened and what to do."""

from collections.abc import Iterator

import pytest

from runwire import errors
from runwire.errors import RunwireError
from runwire.native import errors as native_errors
from runwire.runs import errors as runs_errors
from runwire.workspace import errors as workspace_errors

ROOMS = frozenset(module.__name__ for module in (errors, native_errors, runs_errors, workspace_errors))

# One of each. A class that is missing here fails the first test.
EXAMPLES: tuple[RunwireError, ...] = (
    errors.GatewayRunning(),
    errors.AlreadyResolved("appr_1", decision="approved"),
    errors.ArtifactNotFound("art_1"),
    errors.BodyTooLarge(1024),
    errors.ConfigInvalid("config.toml", "there is no setting 'prot'", key="prot"),
    errors.Conflict("that is taken"),
    errors.CursorAhead(12, head=7),
    errors.Forbidden("admin"),
    errors.GatewayError("there is no run r", code="run_not_found", status=404, hint="check the id", details={"a": 1}),
    errors.GatewayUnreachable("http://127.0.0.1:7437", cause="connection refused"),
    errors.HeadersTooLarge(1024),
    errors.HostNotAllowed("evil.example"),
    errors.IdempotencyConflict("key"),
    errors.ImportConflict("run_1", sequence=3),
    errors.ImportInvalid("not JSON", line=4),
    errors.InvalidBody("expected an object"),
    errors.InvalidContent("that cannot be taken"),
    errors.InvalidCursor("x"),
    errors.InvalidFilter("since", "yesterday"),
    errors.InvalidLimit("0", maximum=5000),
    errors.InvalidRange(10),
    errors.InvalidRequest("that makes no sense"),
    errors.MalformedRequest(),
    errors.MethodNotAllowed("PUT", allowed=("GET", "POST")),
    errors.NotFound("there is no such path"),
    errors.OriginNotAllowed("https://evil.example"),
    errors.QuotaExceeded("task_1", quota_bytes=10),
    errors.Refused("no"),
    errors.RequestTimeout(),
    errors.RunActive("run_1"),
    errors.RunExists("run_1"),
    errors.RunFinished("run_1"),
    errors.RunNotFound("run_1"),
    errors.SecretInImport(line=2, kind="env"),
    errors.SequenceConflict("run_1", sequence=3),
    errors.ShuttingDown(),
    errors.StaleLease("run_1", given=1, current=2),
    errors.StoreBusy(),
    errors.StoreCorrupt("a checksum does not fit"),
    errors.StoreError("the store failed"),
    errors.StoreFull(),
    errors.StoreReadOnly(),
    errors.StoreTooNew(found=3, known=1),
    errors.StoreUnavailable("disk I/O error"),
    errors.TaskNotFound("task_1"),
    errors.TokenNotFound("tok_1"),
    errors.TooManyConnections(),
    errors.TypeNotAllowed("run.finished"),
    errors.Unauthorized(),
    errors.Unavailable(),
    errors.UnknownField("prmopt"),
)


def descendants(kind: type[RunwireError]) -> Iterator[type[RunwireError]]:
    for child in kind.__subclasses__():
        if child.__module__ in ROOMS:
            yield child
        yield from descendants(child)


def test_every_error_has_an_example_here() -> None:
    here = {kind for kind in descendants(RunwireError) if kind.__module__ == errors.__name__}
    assert {type(example) for example in EXAMPLES} == here


def test_every_error_of_ours_has_a_code_of_its_own() -> None:
    codes = [RunwireError.code, *(kind.code for kind in descendants(RunwireError))]
    assert sorted(codes) == sorted(set(codes))


def test_every_error_says_in_a_sentence_what_it_is() -> None:
    for kind in descendants(RunwireError):
        assert 400 <= kind.status <= 599
        assert (kind.__doc__ or "").partition("\n")[0].endswith("."), kind
        assert kind.hint


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_says_what_happened_and_what_to_do(error: RunwireError) -> None:
    assert 400 <= error.status <= 599
    assert error.code.replace("_", "").isalpha()
    assert error.message
    assert not error.message.endswith(".")
    assert error.hint
    assert str(error) == error.message


def test_the_head_of_the_log_goes_with_a_cursor_beyond_it() -> None:
    error = errors.CursorAhead(12, head=7)
    assert (error.status, error.code, error.details) == (400, "cursor_ahead", {"head": 7})


def test_what_a_stranger_sent_is_quoted_only_so_far() -> None:
    error = errors.RunNotFound("x" * 10_000)
    assert len(error.message) < 200
    assert len(str(error.details)) < 200


def test_an_error_without_words_says_what_its_class_promises() -> None:
    assert errors.StoreFull().message == "the disk has no room for another event"


def test_what_a_gateway_answered_is_repeated_as_it_came() -> None:
    error = errors.GatewayError("gone", code="run_not_found", status=404, hint="look", details={"message": "kept"})
    assert (error.message, error.code, error.status, error.hint) == ("gone", "run_not_found", 404, "look")
    assert error.details == {"message": "kept"}
