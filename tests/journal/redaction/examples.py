"""Secrets to hide. None of them ever opened anything; they are put together here so that no scanner takes them for real."""

import base64
import random
import string
from dataclasses import dataclass

from runwire.journal.redaction.secrets import KnownValue

_random = random.Random(20)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Characters as a token has them, with a digit near the start."""
    return "a1" + "".join(_random.choice(alphabet) for _ in range(count - 2))


@dataclass(frozen=True, slots=True)
class Example:
    """A text with one secret in it."""

    kind: str
    before: str
    secret: str
    after: str

    @property
    def text(self) -> str:
        """The text as an agent would see it."""
        return self.before + self.secret + self.after

    @property
    def redacted(self) -> str:
        """The text as it may be stored."""
        return f"{self.before}[redacted:{self.kind}]{self.after}"

    def __str__(self) -> str:
        """What the example shows."""
        return self.kind


def pem(label: str, headers: tuple[str, ...] = (), size: int = 90) -> str:
    """A private key in its armour."""
    body = base64.b64encode(_random.randbytes(size)).decode()
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    return "\n".join((f"-----BEGIN {label}-----", *headers, *lines, f"-----END {label}-----"))


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + "234567"
_JWT = "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + letters(20)

SHAPED = (
    Example("private-key", "key:\n", pem("RSA PRIVATE KEY"), "\nThen go on."),
    Example("private-key", "", pem("OPENSSH PRIVATE KEY"), ""),
    Example(
        "private-key", "a ", pem("RSA PRIVATE KEY", ("Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A", "")), "."
    ),
    Example("private-key", "a ", pem("PGP PRIVATE KEY BLOCK", ("Version: GnuPG v1.4.11 (GNU/Linux)", "")), " b"),
    Example("authorization", "Authorization: Bearer ", "top-secret-word", "\r\n"),
    Example("authorization", '{"authorization": "Basic ', "dXNlcjpodW50ZXIy", '"}'),
    Example("bearer", "curl -H 'X: Bearer ", letters(30), "'"),
    Example("bearer", "bearer ", "abcdefghijklmnopqrstuvwxyz", " ok"),
    Example("aws-access-key-id", "id=", "AKIA" + letters(16, UPPER).upper(), ","),
    Example("aws-secret-key", "aws_secret_access_key = ", letters(40, string.ascii_letters + "/+"), "\n"),
    Example("aws-secret-key", '"SecretAccessKey":"', letters(40), '"'),
    Example("github-token", "https://x-access-token.", "ghp" + "_" + letters(36), "/x"),
    Example("github-token", "", "gho" + "_" + letters(36), ""),
    Example("github-token", "t=", "ghs" + "_" + letters(36), " "),
    Example("github-token", "t=", "github" + "_pat_" + letters(60, string.ascii_letters + "_"), " "),
    Example("gitlab-token", "t=", "glpat" + "-" + letters(20), " "),
    Example("slack-token", "t=", "xoxb" + "-123456789012-" + letters(24), " "),
    Example("slack-webhook", "https://hooks.slack.com/services/", "T012345/B012345/" + letters(24), " "),
    Example("google-api-key", "key=", "AIza" + letters(35), "&x"),
    Example("google-oauth", "t=", "ya29" + "." + letters(40), " "),
    Example("stripe-key", "'", "sk" + "_live_" + letters(24), "'"),
    Example("stripe-key", "'", "rk" + "_live_" + letters(24), "'"),
    Example("openai-key", "OPENAI=", "sk" + "-" + letters(48), "\n"),
    Example("openai-key", "OPENAI=", "sk" + "-proj-" + letters(60, string.ascii_letters + "_-"), "\n"),
    Example("openai-key", "deepseek ", "sk" + "-" + letters(32, HEX), "."),
    Example("anthropic-key", "\\n", "sk" + "-ant-api03-" + letters(60, string.ascii_letters + "_-"), '"'),
    Example("openrouter-key", "\x1b[32m", "sk" + "-or-v1-" + letters(64, HEX), "\x1b[0m"),
    Example("npm-token", "//registry/:_authToken=", "npm" + "_" + letters(36), "\n"),
    Example("pypi-token", "password = ", "pypi" + "-AgEIcHlwaS5vcmc" + letters(50), "\n"),
    Example("huggingface-token", "token%3D", "hf" + "_" + letters(34), "&"),
    Example("azure-key", "AccountName=a;AccountKey=", letters(86) + "==", ";EndpointSuffix=x"),
    Example("jwt", "jwt ", _JWT, " end"),
    Example("api-key", '-H "x-api-key: ', letters(32), '"'),
    Example("url-password", "postgres://app:", "hunter2", "@db.internal:5432/app"),
    Example("url-password", "amqp://me:", "p@ss:w0rd!", "@mq/vhost and more"),
)

KNOWN = (
    KnownValue("env.plain", "Zq8-plainSecretValue_07"),
    KnownValue("env.quoted", 'with"quote\\and/slash&<ampersand>'),
    KnownValue("env.lines", "first line of it\nsecond line of it\n\tthird"),
    KnownValue("env.unicode", "pässwörd-日本-🔑-key"),
    KnownValue("env.overlap", "abcdefgh.ijkl"),
    KnownValue("env.overlaps", "ijkl.mnopqrst"),
    KnownValue("env.bracket", "ends-with-a-bracket["),
    KnownValue("env.repeat", "aaaaaaaaaaab"),
    KnownValue("env.odd_token", "abcdefghijklmnop$rest-of-it!"),
    KnownValue("mcp.github.token", "sk" + "-x9Y8x7W6v5U4"),
)
