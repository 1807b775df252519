"""Finding the operation that a request asks for."""

import re
from collections.abc import Iterable

from starlette.routing import compile_path

from runwire.errors import MethodNotAllowed, NotFound
from runwire.gateway.call import Call
from runwire.gateway.operation import Operation


class Router:
    """Knows every path and what it takes."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        """Compile the paths once."""
        self._fixed: dict[str, dict[str, Operation]] = {}
        self._open: list[tuple[re.Pattern[str], str, dict[str, Operation]]] = []
        by_path: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            by_path.setdefault(operation.path, {})[operation.method] = operation
        for path, methods in by_path.items():
            if "{" in path:
                self._open.append((compile_path(path)[0], path, methods))
            else:
                self._fixed[path] = methods

    def find(self, call: Call) -> Operation | NotFound | MethodNotAllowed:
        """The operation, or why there is none. Fills in the call's route and what its path names."""
        path = call.scope["path"]
        methods = self._fixed.get(path)
        if methods is not None:
            call.template = path
        else:
            for pattern, template, found in self._open:
                if matched := pattern.fullmatch(path):
                    methods, call.template, call.path = found, template, matched.groupdict()
                    break
        if methods is None:
            return NotFound("there is nothing at this path")
        operation = methods.get("GET" if call.method == "HEAD" else call.method)
        if operation is None:
            allowed = sorted({*methods, "HEAD"} if "GET" in methods else methods)
            return MethodNotAllowed(call.method, allowed=tuple(allowed))
        return operation
