"""Which levels and tables of a release of regions stand in its page: the upper ones, up to a size.

answers -> levels, each with its tables and the words of its regions, coarse to fine.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.regions.measured import Measured, Table, subsets
from dpress.inference.regions.spine_queries import widest
from dpress.kinds.regions.levels import tree_of
from dpress.reporting.script_json import as_data

if TYPE_CHECKING:
    from dpress.kinds.regions.answers import Answers

MOST_BYTES = 2_000_000  # of the numbers and words of all regions in a page
MOST_READ = 1 << 24  # cells of a level, of which a page may need less
NUMBER = 32 / 3  # bytes of a number as base64
LEAST = 2 * NUMBER + 4  # bytes of a region: its total, the variance of that, and a code


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLevel:
    """A level that is in a page.

    Args:
        level: 0 for everything.
        name: of the level.
        regions: how many it has.
        tables: those that were asked for and are in the page, small to large; the first is the total.
        words: codes, names, where the children of every region begin in the next level, and places on the map.
    """

    level: int
    name: str
    regions: int
    tables: tuple[Table, ...]
    words: dict[str, Any]

    @property
    def stored(self) -> tuple[Table, ...]:
        """The tables whose cells are in the page; the others are sums of them."""
        return widest(self.tables)

    @property
    def spaces(self) -> tuple[Table, ...]:
        """The parts of the tables whose errors are in the page; see `Measured`."""
        return tuple(dict.fromkeys(space for table in self.stored for space in subsets(table)))


def page_levels(answers: "Answers") -> tuple[PageLevel, ...]:
    """Return the levels of a page: coarse to fine, of each the small tables first, as long as they fit.

    Only levels that are returned may be read: a country's finest has many millions of cells.
    """
    return tuple(_fitting(answers))


def _fitting(answers: "Answers") -> Iterator[PageLevel]:
    measured, left = answers.queries.measured, float(MOST_BYTES)
    for level, regions in enumerate(measured.spine.sizes):
        if regions * max(map(measured.cells, answers.queries.at(level))) > MOST_READ or regions * LEAST > left:
            return
        words = _words(answers, level)
        left -= len(as_data(words))
        tables = tables_at(answers, level)
        while tables and regions * _numbers(measured, tables) * NUMBER > left:
            tables = tables[:-1]
        if not tables:
            return
        left -= regions * _numbers(measured, tables) * NUMBER
        yield PageLevel(level=level, name=answers.levels[level], regions=regions, tables=tables, words=words)


def tables_at(answers: "Answers", level: int) -> tuple[Table, ...]:
    """Return the tables that are known at a level, small to large: the total, then those that were asked for."""
    tables = {error.table for error in answers.errors if error.level == level}
    return ((), *sorted(tables - {()}, key=lambda table: (answers.queries.measured.cells(table), table)))


def _numbers(measured: Measured, tables: tuple[Table, ...]) -> int:
    """Return how many numbers a region needs: its cells, and the variances of their parts."""
    stored = widest(tables)
    spaces = {space for table in stored for space in subsets(table)}
    return sum(map(measured.cells, stored)) + len(spaces)


def _words(answers: "Answers", level: int) -> dict[str, Any]:
    """Return the words of a level's regions, which tell no count."""
    spine, name = answers.queries.measured.spine, answers.levels[level]
    starts = spine.starts[level].tolist() if level < spine.depth else None
    if not level:
        return {"codes": [name], "names": None, "starts": starts, "place": None}
    tree = tree_of(answers.release.schema.tabular[0])
    nodes, place = tree.level(name), tree.place(name)
    return {
        "codes": nodes.codes.to_pylist(),
        "names": None if nodes.names is None else nodes.names.to_pylist(),
        "starts": starts,
        "place": None if place is None else [_degrees(part) for part in place],
    }


def _degrees(values: Array) -> list[float | None]:
    """Return degrees to about ten metres."""
    return [None if math.isnan(value) else value for value in np.round(values, 4).tolist()]
