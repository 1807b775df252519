"""How a model fails. These become events, never answers to an HTTP request, so they are no `RunwireError`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runwire.native.loop.state import Usage


class ModelFault(Exception):
    """A call of a model failed.

    Codes: model_unreachable, model_timeout, rate_limited, auth_failed, context_overflow, model_refused, bad_request,
    malformed_stream, script_exhausted, capability_missing.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        retriable: bool = False,
        retry_after_s: float | None = None,
        usage: "Usage | None" = None,
    ) -> None:
        self.code = code
        self.message = message
        self.status = status
        self.retriable = retriable
        self.retry_after_s = retry_after_s
        self.usage = usage
        super().__init__(f"{code}: {message}")
