"""What pages of counts share: the facts that `counts.html.j2` names.

Data flow: facts, views -> names and values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.query.found_values import FoundValues
from dpress.reporting import figures, page_tables
from dpress.reporting.accuracy import accuracy, example, query_of, total
from dpress.reporting.facts import Alternative, Facts, facts
from dpress.reporting.figures import ComparedMethod, Figure
from dpress.reporting.frame import frame
from dpress.reporting.page_data import table_data
from dpress.reporting.page_tables import Table
from dpress.reporting.postprocessing import effect
from dpress.reporting.views import View

MOST_VIEWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One table of results: a heading, its figure, its cells, what else a room draws of it, and where a link leads."""

    name: str
    figure: Figure
    table: Table
    further: Figure | None = None
    anchor: str = ""


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
    axes = facts.mechanism.decoder.tables[0]
    return {
        **frame(facts),
        **predicted(facts, asking(facts)),
        "counts": counts(whole),
        "parts": parts,
        "hidden": hidden,
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(facts, query_of([facts.schema.tabular[axis] for axis in axes[:2]])),
        "total": total(facts),
        "adjusted": effect(facts.postprocess, whole),
    }


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
    shown = figures.figure(view, facts.range_variances)
    return Part(name=view.name, figure=shown, table=page_tables.table(view), further=further)


def facts_of_values(answers: FoundValues) -> Facts:
    """Return the facts of a release of values that nobody listed, its attribute with those that were found."""
    return replace(facts(answers.release), schema=Schema((answers.attribute,)))


def table_context(facts: Facts) -> dict[str, Any]:
    """Return what `counts.html.j2` names, of one table of one attribute."""
    whole = facts.views
    return {
        "data": table_data(facts, whole[0]),
        "left_to_command": True,
        **frame(facts),
        **predicted(facts, asking(facts)),
        "counts": counts(whole),
        "parts": [part(facts, view) for view in whole],
        "hidden": 0,
        "findings": None,
        "files": page_tables.files(whole),
        "example": example(facts, query_of(facts.schema.tabular)),
        "total": total(facts),
        "adjusted": None,
    }


def values_context(facts: Facts, answers: FoundValues) -> dict[str, Any]:
    """Return the same of values that nobody listed."""
    return table_context(facts) | {"released": len(answers.values), "rest": answers.attribute.labels[-1]}
