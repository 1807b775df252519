"""A page as text: headings, paragraphs, lists and links, without what surrounds them. Pure."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

_LEFT_OUT = (
    "script style noscript template svg canvas iframe object nav footer aside form button input select textarea dialog"
).split()
_BLOCKS = frozenset(
    "p div section article main header table tr ul ol dl dt dd figure figcaption blockquote address details summary hr".split()
)
_FENCE = "```"
_MARKS = {
    "br": ("", "\n"),
    "li": ("\n- ", ""),
    "pre": ("\n\n```\n", "\n```\n\n"),
    "td": (" | ", ""),
    "th": (" | ", ""),
}
_SPACES = re.compile(r"[ \t\r\f\v\u00a0]+")
_BLANKS = re.compile(r"\n{3,}")
_HEADING = re.compile(r"h([1-6])")
_DEPTH_MAX = 200


def readable(html: str, url: str) -> str:
    """The words of a page in their order, links with their whole addresses."""
    tree = LexborHTMLParser(html)
    title_node = tree.css_first("title")
    title = "" if title_node is None else " ".join(title_node.text().split())
    tree.strip_tags(_LEFT_OUT)
    body = tree.css_first("main") or tree.css_first("article") or tree.body
    words: list[str] = []
    if body is not None:
        _walk(body, url, words, 0, plain=False)
    text = "\n".join(_tidied("".join(words).split("\n")))
    text = _BLANKS.sub("\n\n", text).strip()
    return f"# {title}\n\n{text}" if title and not text.startswith(f"# {title}") else text


def _tidied(lines: Sequence[str]) -> Iterator[str]:
    """Lines without spaces that nobody sees; what was set as it is stays so."""
    as_it_is = False
    for line in lines:
        if line.strip() == _FENCE:
            as_it_is = not as_it_is
        yield line.rstrip() if as_it_is else _SPACES.sub(" ", line).strip()


def _walk(node: LexborNode, url: str, words: list[str], depth: int, *, plain: bool) -> None:
    if depth > _DEPTH_MAX:
        words.append(node.text())
        return
    child = node.child
    while child is not None:
        _write(child, url, words, depth, plain=plain)
        child = child.next


def _write(node: LexborNode, url: str, words: list[str], depth: int, *, plain: bool) -> None:
    tag = node.tag
    if tag == "-text":
        text = node.text(deep=False) or ""
        words.append(text if plain else re.sub(r"\s+", " ", text))
        return
    if tag is None or tag.startswith("-") or tag == "_comment":
        return
    heading = _HEADING.fullmatch(tag)
    before, after = _around(tag, heading)
    words.append(before)
    if tag == "a":
        _link(node, url, words, depth)
    elif tag == "img":
        words.append(f"[{node.attributes.get('alt') or 'picture'}]" if node.attributes.get("alt") else "")
    else:
        _walk(node, url, words, depth + 1, plain=plain or tag == "pre")
    words.append(after)


def _around(tag: str, heading: "re.Match[str] | None") -> tuple[str, str]:
    if heading:
        return f"\n\n{'#' * int(heading[1])} ", "\n\n"
    if tag in _BLOCKS:
        return "\n\n" if tag in {"p", "table", "ul", "ol"} else "\n", "\n"
    return _MARKS.get(tag, ("", ""))


def _link(node: LexborNode, url: str, words: list[str], depth: int) -> None:
    inner: list[str] = []
    _walk(node, url, inner, depth + 1, plain=False)
    text = " ".join("".join(inner).split())
    target = node.attributes.get("href") or ""
    if not text or not target or target.startswith(("#", "javascript:", "data:")):
        words.append(text)
        return
    try:
        words.append(f"[{text}]({urljoin(url, target)})")
    except ValueError:
        words.append(text)
