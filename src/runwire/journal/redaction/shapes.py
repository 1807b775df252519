"""What secrets look like that nobody told us about.

Every entry is strict enough to leave source code, hashes, UUIDs and our own ids alone: there is no rule such as
`password=…`, which would corrupt the code that agents read and write.
"""

from runwire.journal.redaction.grammar import Run, Shape, Token, Word

_ALNUM = "[A-Za-z0-9]"
_B64 = "[A-Za-z0-9+/=]"
_B64URL = "[A-Za-z0-9_-]"
_BEARER = "[A-Za-z0-9._~+/=-]"
# Between the name of a field and its value, in a header, in JSON, in YAML, in code. JSON may add a backslash.
_BETWEEN = Run(r"""["'\\ :=>]""", 1, 12)
_TEMPLATE = r"(?i:your|token|redacted|x{4}|\.{3})"

# What may stand between two lines of a key: line ends (escaped or not), indents, the marks of a diff, line numbers, the
# quotes of a literal that goes on in the next line.
_NEWLINE = Run(r"""[\s\\nrtu0-9→:|>"'+,-]""", 1, 32, gives_back=True)
_AFTER_NEWLINE = r"(?:(?<=\s)|(?<=\\[nrt]))"
_AFTER_BASE64 = f"(?<={_B64}{{16}})"
_KEY_LINES = "|".join(
    (
        r"[A-Za-z0-9+/=\\\r\n\t]",
        rf"""(?:{_AFTER_NEWLINE}|{_AFTER_BASE64}|(?<=[→:|>"'+,])) """,
        rf"{_AFTER_NEWLINE}-(?={_B64})",
        rf"(?:{_AFTER_NEWLINE}|(?<=[0-9]))[→:|>]",
        rf"""(?:{_AFTER_NEWLINE}|{_AFTER_BASE64}|(?<=["'+,\\]))["'+,]""",
    )
)
_BEGIN = (
    Word(("-----BEGIN ",)),
    Run("[A-Z0-9 ]", 0, 24, gives_back=True),
    Word(("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----")),
    _NEWLINE,
)
_END = (Word(("-----END ", "------END ")), Run("[A-Z0-9 ]", 0, 40), Word(("-----",)))
# URLs end at these; braces and brackets also mark templates such as `{password}`.
_NOT_IN_URL = r"""\s/?#"'`<>\\\[\]{}()|^"""


def _prefixed(kind: str, *prefixes: str, least: int, characters: str = _ALNUM) -> Shape:
    """A token that its issuer marked with a prefix."""
    return Shape(kind=kind, secret=(Word(prefixes), Run(characters, least, least)), body=characters)


def _named(kind: str, *names: str, secret: Run | Token, body: str) -> Shape:
    """A value that only the name in front of it gives away."""
    return Shape(kind=kind, context=(Word(names, any_case=True), _BETWEEN), secret=(secret,), body=body, anywhere=True)


SHAPES: tuple[Shape, ...] = (
    Shape(
        kind="private-key",
        secret=(*_BEGIN, Run(_B64, 16, 16)),
        # But not the words of a sentence after a key that was cut off.
        body=_KEY_LINES,
        ending=_END,
        anywhere=True,
    ),
    Shape(
        # Armour headers (`Proc-Type: 4,ENCRYPTED`, `Version: GnuPG v2`) may hold almost anything.
        kind="private-key",
        secret=(*_BEGIN, Run("[A-Z]", 1, 1), Run("[A-Za-z-]", 2, 16), Word((": ",))),
        body=r"[^-\[\]{}]|-{1,4}(?=[^-])",
        ending=_END,
        anywhere=True,
    ),
    _prefixed("anthropic-key", "sk-ant-", least=16, characters=_B64URL),
    _prefixed("openrouter-key", "sk-or-", least=16, characters=_B64URL),
    _prefixed("openai-key", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", least=16, characters=_B64URL),
    Shape(kind="openai-key", secret=(Word(("sk-",)), Token("A-Za-z", 20, 48)), body=_B64URL),
    _prefixed("github-token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", least=30),
    Shape(kind="github-token", secret=(Word(("github_pat_",)), Token("A-Za-z_", 22, 40)), body="[A-Za-z0-9_]"),
    _prefixed("gitlab-token", "glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", least=20, characters="[A-Za-z0-9_.-]"),
    Shape(
        kind="slack-token",
        secret=(Word((*(f"xox{letter}-" for letter in "abeoprs"), "xapp-")), Token("A-Za-z-", 10, 16)),
        body="[A-Za-z0-9-]",
    ),
    Shape(
        kind="slack-webhook",
        context=(Word(("hooks.slack.com/services/",)),),
        secret=(Run("[A-Za-z0-9/]", 20, 20),),
        body="[A-Za-z0-9/]",
        anywhere=True,
    ),
    _prefixed("aws-access-key-id", "AKIA", "ASIA", "ABIA", "ACCA", least=16, characters="[A-Z0-9]"),
    _named(
        "aws-secret-key",
        *("secret_access_key", "secretaccesskey", "secret-access-key", "secret access key", "aws_secret_key"),
        secret=Run("[A-Za-z0-9/+]", 40, 40),
        body=_B64,
    ),
    _prefixed("google-api-key", "AIza", least=35, characters=_B64URL),
    _prefixed("google-oauth", "GOCSPX-", "ya29.", least=20, characters="[A-Za-z0-9_.-]"),
    _prefixed("stripe-key", "sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_", least=16),
    _prefixed("npm-token", "npm_", least=36),
    _prefixed("pypi-token", "pypi-Ag", least=40, characters=_B64URL),
    _prefixed("huggingface-token", "hf_", least=30),
    _prefixed("groq-key", "gsk_", least=40),
    _prefixed("xai-key", "xai-", least=40),
    _prefixed("perplexity-key", "pplx-", least=40),
    _prefixed("replicate-token", "r8_", least=37),
    _prefixed("sendgrid-key", "SG.", least=50, characters="[A-Za-z0-9_.-]"),
    _prefixed("digitalocean-token", "dop_v1_", "doo_v1_", "dor_v1_", least=40),
    _prefixed("databricks-token", "dapi", least=32, characters="[0-9a-f]"),
    _prefixed("shopify-token", "shpat_", "shpca_", "shppa_", "shpss_", least=32, characters="[0-9a-fA-F]"),
    _prefixed("vault-token", "hvs.", "hvb.", least=40, characters=_B64URL),
    _prefixed("age-key", "AGE-SECRET-KEY-1", least=50, characters="[A-Z0-9]"),
    Shape(
        kind="azure-key",
        context=(Word(("AccountKey=", "SharedAccessKey=", "SharedAccessSignature=")),),
        secret=(Run(_B64, 40, 40),),
        body=_B64,
        anywhere=True,
    ),
    Shape(
        kind="jwt",
        # The second part of a signed token is an object, too.
        secret=(Word(("eyJ",)), Run(_B64URL, 8, 512), Word((".eyJ",)), Run(_B64URL, 8, 8)),
        body="[A-Za-z0-9_.-]",
        anywhere=True,
    ),
    Shape(
        kind="authorization",
        context=(
            Word(("authorization",), any_case=True),
            _BETWEEN,
            Word(("basic ", "bearer ", "token ", "apikey ", "negotiate "), any_case=True),
            Run(" ", 0, 4),
        ),
        secret=(Run(_BEARER, 8, 8),),
        unless=_TEMPLATE,
        body=_BEARER,
        anywhere=True,
    ),
    Shape(
        kind="bearer",
        context=(Word(("bearer ",), any_case=True), Run(" ", 0, 4)),
        secret=(Token("A-Za-z._~+/=-", 16, 32),),
        unless=_TEMPLATE,
        body=_BEARER,
        anywhere=True,
    ),
    Shape(
        # No word has so many letters.
        kind="bearer",
        context=(Word(("bearer ",), any_case=True), Run(" ", 0, 4)),
        secret=(Run(_ALNUM, 24, 24),),
        unless=_TEMPLATE,
        body=_BEARER,
        anywhere=True,
    ),
    _named(
        "api-key",
        *("x-api-key", "x-goog-api-key", "x-auth-token", "private-token", "ocp-apim-subscription-key"),
        secret=Token("A-Za-z._~+/=-", 16, 32),
        body=_BEARER,
    ),
    Shape(
        kind="url-password",
        context=(Word(("://",)), Run(f"[^{_NOT_IN_URL}:@]", 0, 128), Word((":",))),
        secret=(Run(f"[^{_NOT_IN_URL}]", 1, 1024, gives_back=True),),
        unless=r"(?:\$[A-Za-z_]+|%[A-Za-z]|\*+|[xX]+|\.+|REDACTED)@",
        # A password may hold an unescaped `@`: the last one before the host counts.
        then=(Word(("@",)), Run(f"[^{_NOT_IN_URL}@]", 0, 255)),
        beyond=f"[^{_NOT_IN_URL}]",
        anywhere=True,
    ),
)
"""The shapes, the telling ones first: where two begin at the same place, the placeholder names the first."""
