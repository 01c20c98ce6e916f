"""The matrix of all pairs of attributes: how far each departs from independence, with a way to its table.

pairs -> one cell for every two attributes -> a link to the pair's section, or to its table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpress.inference.consistency import Axes
from dpress.kinds.joint.dependence import Pair

MOST = 16  # attributes whose matrix is read at a glance


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Two attributes.

    Args:
        name: of the pair.
        share: of the people who would have to change a value to make the fitted table independent.
        significant: whether noise alone would hardly make so much.
        target: where the pair is on the page; empty where it is not.
        table: its place among the published tables; -1 where the page has no data of it.
    """

    name: str
    share: str
    significant: bool
    target: str
    table: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All pairs.

    Args:
        columns: the attributes but the first.
        rows: each attribute but the last, with a cell for every column; None below the diagonal and without a table.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]


def anchor(axes: Axes) -> str:
    """Return the name of a pair's section."""
    return f"pair-{'-'.join(map(str, axes))}"


def matrix(pairs: Sequence[Pair], names: Sequence[str], *, shown: int, places: Mapping[Axes, int]) -> Matrix | None:
    """Return the matrix; None of two attributes, and of very many.

    Args:
        pairs: the pairs, those with a section first.
        names: of the attributes, for people.
        shown: how many pairs have a section.
        places: of tables in the data of the page.
    """
    if not 2 < len(names) <= MOST:
        return None
    cells = {
        pair.axes: _cell(pair, section=place < shown, table=places.get(pair.axes, -1))
        for place, pair in enumerate(pairs)
    }
    axes = range(len(names))
    return Matrix(
        columns=tuple(names[1:]),
        rows=tuple((names[row], tuple(cells.get((row, column)) for column in axes[1:])) for row in axes[:-1]),
    )


def _cell(pair: Pair, *, section: bool, table: int) -> Cell:
    target = anchor(pair.axes) if section else "live" if table >= 0 else ""
    share = f"{100 * pair.fitted:.1f} %"
    return Cell(name=pair.name, share=share, significant=pair.test.significant, target=target, table=table)
