"""Files as strangers might have them: line ends of every kind, no last newline, binary, odd names and modes."""

from hypothesis import strategies as st

from runwire.workspace.changes import FileState

LINES = st.sampled_from([b"a", b"b", b"c", b"", b"-x", b"+y", b" z", b"\\ No newline", "é€😀".encode(), b"@@ -1 +1 @@"])
ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"])


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Lines with ends, the last one perhaps without."""
    lines = draw(st.lists(st.tuples(LINES, ENDS), max_size=25))
    body = b"".join(line + end for line, end in lines)
    return body + draw(st.sampled_from([b"", b"", b"last", b"\r"]))


BODIES = st.one_of(texts(), texts(), texts(), st.binary(max_size=200), st.just(b""), st.just(b"\0\n" * 40))
MODES = st.sampled_from([0o644, 0o644, 0o755])
STATES = st.builds(FileState, BODIES, MODES)
NAMES = st.sampled_from(
    ["a", "b.txt", "sub/c.py", "sub/deep/d", "with space", "sub/ü ñ.txt", 'quo"te', "back\\slash", "日本", "e b/f"]
)
EXACT_MODES = st.sampled_from([0o644, 0o755, 0o600, 0o664, 0o700, 0o640])
EXACT_STATES = st.builds(FileState, BODIES, EXACT_MODES)
