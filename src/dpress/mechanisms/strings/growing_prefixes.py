"""Prefixes of strings, whole bits at a time: which of them can begin a text, and which are a whole string."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grown:
    """What a round's largest counts leave.

    Args:
        prefixes: of strings that go on, hexadecimal, the last byte filled up with zero bits, in order.
        strings: that end, in the order of their bytes.
    """

    prefixes: tuple[str, ...]
    strings: tuple[str, ...]


def grown(candidates: Iterable[int], bits: int, longest: int, most: int) -> Grown:
    """Return the first candidates that a text may begin with, or be.

    Args:
        candidates: numbers of so many bits, the largest count first.
        bits: of each.
        longest: the bytes of the longest string.
        most: of them.

    >>> grown([0x6100, 0x6162, 0xFFFF, 0x0061], 16, 3, 8)
    Grown(prefixes=('6162',), strings=('a',))
    """
    prefixes, strings = list[str](), list[bytes]()
    for candidate in candidates:
        if len(prefixes) + len(strings) == most:
            break
        content = (candidate << (-bits % 8)).to_bytes(-(-bits // 8), "big")
        text, zero, behind = content.partition(b"\0") if 0 in content[: bits // 8] else (content, b"", b"")
        ended = bool(zero) or bits == 8 * longest
        if any(behind) or not text or not _begins_text(text[: bits // 8], whole=ended):
            continue
        if ended:
            strings.append(text)
        else:
            prefixes.append(content.hex())
    return Grown(tuple(sorted(prefixes)), tuple(string.decode() for string in sorted(strings)))


def _begins_text(content: bytes, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(content, final=whole)
    except UnicodeDecodeError:
        return False
    return True
