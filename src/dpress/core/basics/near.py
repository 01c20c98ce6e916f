"""Names that a wrong one was probably meant to be."""

import difflib
from collections.abc import Iterable

MOST = 10_000  # names that are looked through
ALIKE = 0.6  # the share of letters that two names must have in common


def near(name: str, known: Iterable[str]) -> list[str]:
    """Return the names most like another one, the likeliest first, three at most; capitals and blanks do not count."""
    plain: dict[str, str] = {}
    for _, one in zip(range(MOST), known, strict=False):
        plain.setdefault(one.casefold().strip(), one)
    return [plain[one] for one in difflib.get_close_matches(name.casefold().strip(), plain, cutoff=ALIKE)]


def meant(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'age'?`, to be put behind a refusal; empty where nothing is near.

    >>> meant("Age", ["age", "sex"])
    "; did you mean 'age'?"
    """
    found = near(name, known)
    return f"; did you mean {found[0]!r}?" if found else ""
