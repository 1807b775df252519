"""Output as text: no character is cut, and offsets count bytes."""

from hypothesis import given
from hypothesis import strategies as st

from runwire.workspace.output import PIECE_LIMIT_BYTES, Piece, Splitter


@given(st.text(), st.lists(st.integers(min_value=1, max_value=5)))
def test_text_cut_anywhere_comes_out_whole(text: str, cuts: list[int]) -> None:
    text = text.encode("utf-8", "replace").decode()
    data, pieces, splitter = text.encode(), list[Piece](), Splitter("stdout")
    while data:
        size = cuts.pop() if cuts else 7
        pieces.extend(splitter.feed(data[:size]))
        data = data[size:]
    pieces.extend(splitter.end())
    assert "".join(piece.text for piece in pieces) == text
    offset = 0
    for piece in pieces:
        assert piece.byte_offset == offset
        offset += len(piece.text.encode())


@given(st.lists(st.binary(max_size=40)))
def test_bytes_that_are_no_text_lose_nothing_else(chunks: list[bytes]) -> None:
    splitter = Splitter("stderr")
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)] + list(splitter.end())
    assert "".join(piece.text for piece in pieces) == b"".join(chunks).decode("utf-8", "replace")


def test_half_a_character_waits_for_the_other_half() -> None:
    splitter = Splitter("stdout")
    assert list(splitter.feed(b"a\xc3")) == [Piece("stdout", "a", 0)]
    assert list(splitter.feed(b"\xa4b")) == [Piece("stdout", "\u00e4b", 1)]
    assert list(splitter.feed(b"\xe2\x82")) == []
    assert list(splitter.end()) == [Piece("stdout", "\ufffd", 4)]


def test_a_flood_comes_in_pieces_of_a_bearable_size() -> None:
    data = "\u20ac".encode() * PIECE_LIMIT_BYTES
    pieces = list(Splitter("stdout").feed(data))
    assert len(pieces) == 3
    assert all(len(piece.text.encode()) <= PIECE_LIMIT_BYTES + 3 for piece in pieces)
    assert "".join(piece.text for piece in pieces).encode() == data
