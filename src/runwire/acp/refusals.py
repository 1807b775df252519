"""Requests that are answered with an error: by number, by what is wrong, and by what to do. Pure."""

from collections.abc import Mapping

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_FOUND = -32002


class Refusal(Exception):
    """A request that is answered with an error: what is wrong, and what to do."""

    def __init__(self, code: int, what: str, to_do: str, data: Mapping[str, object] | None = None) -> None:
        super().__init__(f"{what}; {to_do}")
        self.code = code
        self.data = {"hint": to_do, **(data or {})}
