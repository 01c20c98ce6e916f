"""What pages of counts share: the facts that `counts.html.j2` names.

Data flow: facts, views -> names and values.
"""

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.query.found_values import FoundValues
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import Condition, Query
from dpress.reporting import figures, page_tables
from dpress.reporting.accuracy import accuracy, answered, example, query_of, total
from dpress.reporting.counted import how_many, opened
from dpress.reporting.facts import Alternative, Facts, facts
from dpress.reporting.figures import ComparedMethod, Figure
from dpress.reporting.frame import frame
from dpress.reporting.headline import headline
from dpress.reporting.long_axes import TOP, is_long
from dpress.reporting.most_frequent import most_frequent
from dpress.reporting.page_lists import listed, lists_data
from dpress.reporting.page_tables import Table
from dpress.reporting.postprocessing import effect
from dpress.reporting.rounding import number
from dpress.reporting.views import View

MOST_VIEWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table of results: a heading, its figure, its cells, what else is drawn, where a link leads, its line."""

    name: str
    figure: Figure
    table: Table
    further: Figure | None = None
    anchor: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many published cells there are, in how many tables, and how many are unlike counts.

    Args:
        tables: how many there are.
        cells: of all tables.
        below: cells below zero.
        unclear: cells whose interval reaches down to zero.
        fractional: cells that are no whole numbers.
        misses: of the 95 % intervals, as many can be expected to miss.
    """

    tables: int
    cells: int
    below: int
    unclear: int
    fractional: int
    misses: int


def counts(whole: Sequence[View]) -> Counts:
    """Return how many published cells there are."""
    flat = np.concatenate([view.count.ravel() for view in whole])
    return Counts(
        tables=len(whole),
        cells=flat.size,
        below=int(np.count_nonzero(flat < 0)),
        unclear=sum(view.unclear for view in whole),
        fractional=int(np.count_nonzero(flat % 1)),
        misses=-(-flat.size // 20),
    )


def page_of_counts(facts: Facts, whole: Sequence[View], parts: Sequence[Part], *, hidden: int = 0) -> dict[str, Any]:
    """Return the facts of a page of counts with the frame's.

    Args:
        facts: of the release.
        whole: the views of its published tables.
        parts: what is shown of them.
        hidden: how many more tables there are.
    """
    names = {attribute.name for attribute in headline(facts)}
    drawn = [axis.name for axis in whole[0].axes]
    columns = facts.schema.subset([*dict.fromkeys([*filter(names.__contains__, drawn), *drawn])][:2]).tabular
    return {
        **frame(facts),
        **predicted(facts, asking(facts)),
        **opened(facts, headline(facts)),
        "counts": counts(whole),
        "parts": parts,
        "hidden": hidden,
        "shown_as": shown_as(facts, whole),
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(facts, query_of(columns)),
        "total": total(facts),
        "adjusted": effect(facts.postprocess, whole),
    }


def shown_as(facts: Facts, whole: Sequence[View]) -> tuple[str, ...]:
    """Return what a page says of the counts that are hidden and rounded, a sentence each; nothing without any."""
    return facts.display.legend(sum(int(view.hidden.sum()) for view in whole), sum(view.count.size for view in whole))


def predicted(facts: Facts, name: Callable[[Alternative], str]) -> dict[str, Any]:
    """Return the facts of the section on the error.

    Args:
        facts: of the release.
        name: of a method in the figure of methods.
    """
    compared = [
        ComparedMethod(name=name(candidate), variance=candidate.predicted_error, chosen=candidate is facts.chosen)
        for candidate in facts.candidates
        if candidate is facts.chosen or not candidate.assumes
    ]
    several = len(compared) > 1
    return {
        "accuracy": accuracy(facts),
        "methods": figures.methods_figure(compared, facts.lower_bound, facts.noun) if several else None,
    }


def asking(facts: Facts) -> Callable[[Alternative], str]:
    """Return what names a method: with what a device is asked about, where methods differ in that."""
    differ = len({candidate.asks for candidate in facts.candidates}) > 1
    return lambda candidate: f"{candidate.method}, {candidate.asks}" if differ else candidate.method


def part(facts: Facts, view: View, further: Figure | None = None) -> Part:
    """Return what is shown of one table."""
    most = TOP if is_long(view) else page_tables.ROWS
    shown = figures.figure(view, facts.range_variances, functools.partial(together, facts))
    return Part(name=view.name, figure=shown, table=page_tables.table(view, most), further=further)


def together(facts: Facts, name: str, cells: Sequence[int]) -> str:
    """Return the count of some cells of an attribute together, as text; empty where the release does not answer it."""
    labels = next(attribute for attribute in facts.schema.tabular if attribute.name == name).labels
    with suppress(ValueError):  # such as of sets, which overlap
        condition = Condition(word="in", attribute=name, values=tuple(labels[cell] for cell in cells))
        return answered(facts.answered(Query(of="count", first=condition), CONFIDENCE))
    return ""


def only_table(facts: Facts, view: View, shown: Part) -> dict[str, Any]:
    """Return what `counts.html.j2` names, of the only table, which the page lists whole, and what is shown of it."""
    (axis,) = view.axes
    labels = [(axis.caption, [axis.label(cell) for cell in range(axis.size)])]
    measured = {"count": view.count, "low": view.low, "high": view.high, "standard_error": view.error}
    return page_of_counts(facts, [view], [shown]) | {
        "data": lists_data([listed(f"Counts by {axis.caption}", labels, measured)]) if facts.display.whole else None,
        "listed_whole": True,
        "adjusted": None,
    }


def facts_of_values(answers: FoundValues) -> Facts:
    """Return the facts of a release of values that nobody listed, with those that were found, most frequent first."""
    labels = [answers.attribute.labels[place] for place in _order(answers)]
    ranked = msgspec.structs.replace(answers.attribute, values=tuple(labels))
    return replace(facts(answers.release), schema=Schema((ranked,)))


def values_context(facts: Facts, answers: FoundValues) -> dict[str, Any]:
    """Return what `counts.html.j2` names, the most frequent value first.

    Args:
        facts: as `facts_of_values` returns them.
        answers: of the release.
    """
    (view,), released = facts.views, len(answers.values)
    view = view.taken(0, np.array(_order(answers)))
    return only_table(facts, view, _part(facts, view, released)) | {
        "opening": values_opening(facts, answers),
        "named": released > 1,
        "released": released,
        "rest": answers.attribute.labels[-1],
    }


def values_opening(facts: Facts, answers: FoundValues) -> tuple[str, ...]:
    """Return how many there are, how many values were found, and which are the most frequent."""
    released = len(answers.values)
    counted = f"{number(released)} {'value' if released == 1 else 'values'} of {answers.attribute.caption}"
    frequent = f"{counted} {'is' if released == 1 else 'are'} frequent enough to be released."
    return tuple(filter(None, (how_many(facts), frequent, most_frequent(facts, released))))


def _order(answers: FoundValues) -> list[int]:
    """Return the places of the values, the most frequent first, then that of the rest."""
    return [*np.argsort(-answers.counts[:-1], kind="stable").tolist(), len(answers.values)]


def _part(facts: Facts, view: View, released: int) -> Part:
    """Return the figure of the most frequent values, and the table with the rest below them."""
    values = view.taken(0, np.arange(released)) if released else view
    shown = figures.figure(values, facts.range_variances, functools.partial(together, facts))
    return Part(name=view.name, figure=shown, table=page_tables.table(view, TOP, beside=min(1, released)))
