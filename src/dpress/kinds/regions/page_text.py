"""What a page of regions says without its script: tables of the upper levels, typical errors, files, commands.

answers, levels -> tables of text.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpress.inference.regions.measured import Table as Axes
from dpress.inference.regions.variances import cell_variances
from dpress.kinds.regions.levels import tree_of
from dpress.kinds.regions.page_levels import PageLevel, tables_at
from dpress.kinds.regions.plan_text import typical
from dpress.query.published_tables import PublishedTable
from dpress.reporting import page_tables
from dpress.reporting.accuracy import first_value
from dpress.reporting.facts import Facts
from dpress.reporting.page_tables import Table
from dpress.reporting.rounding import TIMES, error, number
from dpress.reporting.views import View, view_of

if TYPE_CHECKING:
    from dpress.kinds.regions.answers import Answers

MOST_REGIONS = 60  # of a level whose tables stand in the page without its script
MOST_ROWS = 60  # of such a table; of a longer one its largest cells


def upper_tables(answers: "Answers", levels: Sequence[PageLevel], facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Yield the upper levels, each with its tables; of levels of the same regions only the finest."""
    for page_level, finer in zip(levels, [*levels[1:], None], strict=True):
        if page_level.regions <= MOST_REGIONS and (finer is None or finer.regions > page_level.regions):
            tables = [
                page_tables.table(_view(answers, page_level, axes, facts), most=MOST_ROWS)
                for axes in page_level.tables
                if axes or page_level.regions > 1
            ]
            yield {"name": page_level.name, "regions": page_level.regions, "tables": tables}


def shown_as(answers: "Answers", levels: Sequence[PageLevel], facts: Facts) -> tuple[str, ...]:
    """Return the sentences on hidden and rounded numbers: how many of those in the page are hidden."""
    if facts.display.whole:
        return ()
    views = [
        _view(answers, each, axes, facts) for each in levels for axes in each.tables if axes or each.level
    ]  # the one number of everything together is in no file
    return facts.display.legend(sum(int(view.hidden.sum()) for view in views), sum(view.count.size for view in views))


def _view(answers: "Answers", page_level: PageLevel, axes: Axes, facts: Facts) -> View:
    """Return the cells of all regions of a level."""
    level = page_level.level
    counts = answers.table(level, axes)
    variances = cell_variances(answers.queries.measured, axes)[level]
    published = PublishedTable(
        name=answers.level_table(level, axes).file,
        axes=answers.axes(level, axes),
        count=counts.ravel(),
        variance=np.repeat(variances, counts.size // page_level.regions),
        adjusted=None,
        tail=answers.release.tail,
    )
    return view_of(published, facts.noun, facts.display)


def below_zero(answers: "Answers", levels: Sequence[PageLevel]) -> tuple[int, int]:
    """Return how many cells of the page's tables are below 0, and of how many."""
    cells = [answers.table(page_level.level, table) for page_level in levels for table in page_level.stored]
    return sum(int((counts < 0).sum()) for counts in cells), sum(counts.size for counts in cells)


def typical_errors(answers: "Answers") -> Table:
    """Return the typical error of every table that was measured, a row a level."""
    by_cell = {(each.level, each.table): f"± {error(typical(each))}" for each in answers.errors}
    tables = list(dict.fromkeys(table for _, table in by_cell))
    rows = tuple(
        (name, number(regions), *(by_cell.get((level, table), "") for table in tables))
        for level, (name, regions) in enumerate(zip(answers.levels, _sizes(answers), strict=True))
    )
    names = ("level", "regions", *(title(answers, table) for table in tables))
    return Table(caption="Typical error of a count, by level and table", names=names, labels=1, rows=rows)


def in_the_page(answers: "Answers", levels: Sequence[PageLevel]) -> Table:
    """Return which tables of which level are in the page."""
    tables = {page_level.name: ", ".join(title(answers, table) for table in page_level.tables) for page_level in levels}
    rows = tuple(
        (name, number(regions), tables.get(name, "nothing"))
        for name, regions in zip(answers.levels, _sizes(answers), strict=True)
    )
    return Table(caption="What is in this page", names=("level", "regions", "tables"), labels=3, rows=rows)


def whole(answers: "Answers", levels: Sequence[PageLevel]) -> bool:
    """Return whether a page has all tables of all levels."""
    last = len(answers.levels) - 1
    return len(levels) > last and len(levels[last].tables) == len(tables_at(answers, last))


def files(answers: "Answers") -> Table:
    """Return the list of the Parquet files."""
    sizes, shape = _sizes(answers), answers.queries.measured.shape
    errors = {(each.level, each.table): f"± {error(typical(each))}" for each in answers.errors}
    rows = tuple(
        (
            each.file,
            TIMES.join(axis.caption for axis in each.axes),
            number(sizes[each.level] * int(np.prod([shape[axis] for axis in each.table], dtype=np.int64))),
            errors.get((each.level, each.table), ""),
        )
        for each in answers.level_tables
    )
    return Table(
        caption="Files of this release", names=("file", "attributes", "cells", "typical error"), labels=2, rows=rows
    )


def commands(answers: "Answers") -> list[str]:
    """Return commands that give what is in no page: regions of the finest level, with cells, and all of one above."""
    (place, *others), levels = answers.release.schema.tabular, answers.levels[1:]
    tree = tree_of(place)
    finest, coarse = levels[-1], levels[-2] if len(levels) > 1 else ""
    first = f"{_word(finest)} = {_word(tree.level(finest).codes[0].as_py())}"
    table = answers.queries.at(len(levels))[0]
    cells = [f"{_word(others[axis].name)} = {_word(first_value(others[axis]))}" for axis in table[:1]]
    above = f"{_word(coarse)} = {_word(tree.level(coarse).codes[0].as_py())}" if coarse else ""
    queries = [f"count by {_word(finest)} where {above}" if above else f"count by {_word(finest)}"]
    return [f"dpress query FOLDER {shlex.quote(query)}" for query in (*queries, " and ".join([first, *cells]))]


def title(answers: "Answers", table: Axes) -> str:
    """Return what a table is of."""
    others = answers.release.schema.tabular[1:]
    return TIMES.join(others[axis].caption for axis in table) or "total"


def _sizes(answers: "Answers") -> tuple[int, ...]:
    return answers.queries.measured.spine.sizes


def _word(text: str) -> str:
    """Return a name or a code as a query writes it."""
    return text if re.fullmatch(r"[\w-]+", text) else f'"{text}"'
