"""Names that a wrong one was probably meant to be."""

import difflib
from collections.abc import Iterable

MOST = 10_000  # names that are looked through
ALIKE = 0.6  # the share of letters that two names must have in common
SHORTEST = 3  # letters of a name that another one is cut short to
MOST_SHOWN = 3


def near(name: str, names: Iterable[str]) -> list[str]:
    """Return the names most like another one, the likeliest first, three at most; capitals and blanks do not count."""
    plain: dict[str, str] = {}
    for _, candidate in zip(range(MOST), names, strict=False):
        plain.setdefault(candidate.casefold().strip(), candidate)
    text = name.casefold().strip()
    alike = difflib.get_close_matches(text, plain, cutoff=ALIKE) or [each for each in plain if _shortened(text, each)]
    return [plain[each] for each in alike[:MOST_SHOWN]]


def _shortened(name: str, other: str) -> bool:
    """Say whether one of two names is the other one cut short, as `lon` is of `longitude`."""
    return min(len(name), len(other)) >= SHORTEST and (other.startswith(name) or name.startswith(other))


def meant(name: str, names: Iterable[str]) -> str:
    """Return `; did you mean 'age'?`, to be put behind a refusal; empty where nothing is near.

    >>> meant("Age", ["age", "sex"])
    "; did you mean 'age'?"
    """
    alike = near(name, names)
    return f"; did you mean {alike[0]!r}?" if alike else ""
