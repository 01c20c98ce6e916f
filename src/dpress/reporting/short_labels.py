"""Labels of a chart, cut where they are too long for it, so that different ones stay different."""

from collections.abc import Sequence

LONGEST_LABEL = 24
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
ROUNDS = 9  # of cutting, after which a number tells apart what is still alike


def short_labels(texts: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Return texts of at most so many characters, cut at the end, or in the middle where that is what tells them apart.

    >>> short_labels(["North of the long river", "North of the long road"], 16)
    ['North\N{HORIZONTAL ELLIPSIS}river', 'North\N{HORIZONTAL ELLIPSIS}road']
    """
    starts = dict.fromkeys(texts, 0)
    for _ in range(ROUNDS):
        alike = dict[str, list[str]]()
        for text, start in starts.items():
            alike.setdefault(_cut(text, start, longest), []).append(text)
        if all(len(group) == 1 for group in alike.values()):
            break
        for group in alike.values():
            for text in group if len(group) > 1 else ():
                starts[text] = max(_first_word(text, _shared(group), longest), starts[text] + 1)
    shown = dict[str, str]()
    for text, start in starts.items():
        label = _cut(text, start, longest)
        while label in shown.values():
            mark = f"{ELLIPSIS}{len(shown) + 1}"
            label = label[: longest - len(mark)] + mark
        shown[text] = label
    return [shown[text] for text in texts]


def _shared(texts: Sequence[str]) -> int:
    """Return how many letters all of them begin with."""
    differing = (at for at, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1)
    return next(differing, min(map(len, texts)))


def _first_word(text: str, differs: int, longest: int) -> int:
    """Return where the word begins in which texts differ; where they do if that is far behind its beginning."""
    word = text.rfind(" ", 0, differs) + 1
    return word if differs - word < longest // 3 else differs


def _cut(text: str, start: int, longest: int) -> str:
    """Return a text without what is before `start` but for its head, and without what is too long behind it."""
    if len(text) <= longest:
        return text
    head = text[: longest // 3].rstrip() + ELLIPSIS if start > longest // 3 else text[:start]
    rest, room = text[start:], longest - len(head)
    return head + (rest if len(rest) <= room else rest[: room - 1] + ELLIPSIS)
