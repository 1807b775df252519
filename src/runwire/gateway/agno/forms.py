"""Forms as Agno's clients send them: url-encoded or multipart, every value a text."""

import base64
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from runwire.gateway.agno.errors import InvalidForm
from runwire.gateway.call import Call
from runwire.gateway.json import require_shallow
from runwire.gateway.services import Services
from runwire.runs.task import Attachment

URL_ENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

_FIELDS_MAX = 256
_FILES_MAX = 16
_YES = frozenset({"true", "1", "yes", "on", "t", "y"})
_NO = frozenset({"false", "0", "no", "off", "f", "n"})


@dataclass(frozen=True, slots=True)
class Form:
    """The fields and files of one form. Fields that nobody asks for are ignored, as Agno does."""

    fields: dict[str, str]
    files: tuple[Attachment, ...] = ()

    def text(self, name: str) -> str | None:
        """A field; one that is empty counts as left out."""
        return self.fields.get(name) or None

    def flag(self, name: str, *, default: bool) -> bool:
        """A field that says yes or no."""
        given = self.fields.get(name, "").strip().lower()
        if given and given not in _YES | _NO:
            raise InvalidForm(name, "it is neither true nor false")
        return given in _YES if given else default

    def json(self, name: str) -> object:
        """What a field holds as JSON. Text that is no JSON is a ValueError."""
        text = self.fields[name].encode()
        require_shallow(text)
        try:
            return msgspec.json.decode(text)
        except RecursionError as deep:
            raise ValueError("it is nested too deeply") from deep


async def read_form(services: Services, call: Call) -> Form:
    """The form of a request; what is none is refused."""
    body = await call.body(services.config.body_limit_bytes)
    kind = (call.header(b"content-type") or URL_ENCODED).partition(";")[0].strip().lower()
    if kind == MULTIPART:
        return await _multipart(call, body)
    if kind != URL_ENCODED:
        raise InvalidForm("", f"{kind[:64]!r} is no form")
    try:
        return Form(dict(parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_MAX)))
    except ValueError as wrong:
        raise InvalidForm("", f"the form cannot be read: {wrong}") from wrong


async def _multipart(call: Call, body: bytes) -> Form:
    async def whole() -> AsyncGenerator[bytes]:
        yield body

    headers = Headers(raw=call.scope["headers"])
    parser = MultiPartParser(
        headers, whole(), max_files=_FILES_MAX, max_fields=_FIELDS_MAX, max_part_size=len(body) + 1
    )
    try:
        parsed = await parser.parse()
    except (MultiPartException, UnicodeDecodeError, KeyError) as wrong:
        raise InvalidForm("", f"the form cannot be read: {wrong}") from wrong
    try:
        fields, files = dict[str, str](), list[Attachment]()
        for name, value in parsed.multi_items():
            if isinstance(value, UploadFile):
                content = base64.b64encode(await value.read()).decode()
                files.append(Attachment(mime=value.content_type or "application/octet-stream", base64=content))
            else:
                fields[name] = value
        return Form(fields, tuple(files))
    finally:
        await parsed.close()
