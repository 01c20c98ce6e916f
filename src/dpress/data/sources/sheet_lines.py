"""Which lines of a sheet are probably no rows, by how many of their cells are filled: proposed, never taken unasked.

the lines of a sheet -> lines in front of the names, lines of names, lines behind the rows.
"""

from collections import Counter
from collections.abc import Sequence

from dpress.data.sources.first_bytes import MOST, Proposal
from dpress.data.specification.file_format import joined_names


def likely(lines: Sequence[Sequence[str]]) -> Proposal:
    """Return which lines are probably no rows; it rests on rows, too, and so is shown to whoever holds the sheet.

    The names stand in the first line that has as many filled cells as most lines, or in two of which neither has, as
    below merged cells. Behind the rows stand lines with one filled cell.

    Args:
        lines: the texts of their cells, empty where nothing stands, from the first line of the sheet.

    >>> rows = [["3", "1", "0"], ["4", "0", "1"]]
    >>> likely([["Visits"], [], ["age", "Persons", ""], ["", "men", "women"], *rows, ["Source"]])
    Proposal(encoding='', separator='', skip=2, header_rows=2, footer=1)
    """
    filled = [sum(cell.strip() != "" for cell in line) for line in lines]
    counts = Counter(count for count in filled if count > 1)
    usual = max(counts, key=lambda count: (counts[count], count), default=0)
    for skip, count in enumerate(filled[: MOST + 1] if usual else ()):
        if count >= usual or (count > 1 and _are_joined(lines[skip : skip + 2], filled[skip + 1 : skip + 2], usual)):
            front = skip if any(filled[:skip]) else 0  # empty lines alone are left out anyway
            rows = 1 if count >= usual else 2
            return Proposal(encoding="", separator="", skip=front, header_rows=rows, footer=_footer(filled))
    return Proposal(encoding="", separator="")


def _are_joined(lines: Sequence[Sequence[str]], below: Sequence[int], usual: int) -> bool:
    """Say whether two lines together name as many columns as are usual, each otherwise, and the second not alone."""
    names = [name for name in joined_names(lines) if name]
    return all(count < usual for count in below) and len({*names}) == len(names) >= usual


def _footer(filled: Sequence[int]) -> int:
    """Return how many of the last lines with something in them have one filled cell; none where these are many."""
    last = [count for count in filled if count][::-1]
    lines = next((place for place, count in enumerate(last) if count > 1), 0)
    return lines if lines <= MOST else 0
