"""The page of records: what was promised, what the records look like, what they are good for, and what they give away.

Data flow: release -> facts, views of its records -> `page.html.j2`. Nothing else is read.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from dpress import catalog
from dpress.attributes.attribute import Tabular
from dpress.core.methods.people import Codes
from dpress.data.specification.constraint import Constraint
from dpress.inference.interval import half_width
from dpress.inference.row_count import RowCount
from dpress.kinds.microdata.answers import ANSWERING, Answers
from dpress.kinds.microdata.constraint_words import computed
from dpress.kinds.microdata.likely_pairs import LikelyPairs, likely_pairs
from dpress.kinds.microdata.record_findings import seen, sureness
from dpress.kinds.microdata.record_views import PairView, attribute_view, ranked
from dpress.query.published_tables import CONFIDENCE
from dpress.query.record_files import NAME
from dpress.query.release import Release
from dpress.release.room import Page
from dpress.reporting import charts, figures
from dpress.reporting.accuracy import query_of
from dpress.reporting.facts import Facts, facts
from dpress.reporting.figures import Figure
from dpress.reporting.findings import Estimate, total_sentence
from dpress.reporting.frame import frame
from dpress.reporting.long_axes import shortened
from dpress.reporting.page_lists import MOST_CELLS, listed, lists_data
from dpress.reporting.page_tables import Table
from dpress.reporting.render import rendered
from dpress.reporting.rounding import TIMES, error, number, unit_for
from dpress.reporting.views import View

TEMPLATE = "kinds/microdata/page.html.j2"
PERTURBED = ("per_record",)  # whose records are rows with noise
MOST_ATTRIBUTES, MOST_PAIRS = 16, 3
MOST_LISTED = 10  # pairs
FIRST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What a page takes from records, beside what it takes from every release.

    Args:
        table: the records in the attributes' own values.
        codes: their cells, shape (attributes, records).
        aligned: record i stands for row i.
        parts: of what was measured, the number of noisy answers and their variance.
        parameters: that the method ran with.
        rows: how many rows there are, as far as it is published; None where nothing is.
        likely: how sure tables of two attributes are likely to be; None where nobody knows.
        measured: the places of the attributes that no constraint computes.
        constraints: what holds in every record.
        computed: the names of the attributes that constraints compute.
        linked: of which two tables they are, a sentence; empty where they are of one.
        paired: the places of the attributes whose pairs are shown.
    """

    table: pa.Table
    codes: Codes
    aligned: bool
    parts: tuple[tuple[int, float], ...]
    parameters: Mapping[str, Any]
    rows: RowCount | None
    likely: LikelyPairs | None
    measured: tuple[int, ...]
    constraints: Sequence[str]
    computed: Sequence[str]
    linked: str
    paired: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.table.num_rows)


def records_of(release: Release) -> Records:
    """Return what a page takes from records.

    Raises:
        TypeError: the release has none.
    """
    answers = ANSWERING.of(release)
    made = answers.made
    return Records(
        table=made.table,
        codes=answers.codes,
        aligned=made.aligned,
        parts=made.measured,
        parameters=answers.maker.parameters,
        rows=made.rows,
        likely=likely_pairs(answers.maker, made.table.num_rows),
        measured=answers.maker.measured,
        constraints=[constraint.text for constraint in _constraints(release)],
        computed=computed(answers.maker),
        **_linked(answers),
    )


def _linked(answers: Answers) -> dict[str, Any]:
    """Return of which tables records are, and the attributes whose pairs are shown."""
    names, linking = answers.release.schema.names, answers.linking
    if linking is None:
        return {"linked": "", "paired": tuple(range(len(names)))}
    words = linking.words(answers.made.table.num_rows, linking.persons(names, answers.codes))
    return {"linked": words, "paired": tuple(k for k, name in enumerate(names) if name not in linking.apart)}


def _constraints(release: Release) -> tuple[Constraint, ...]:
    """Return the constraints that the specification has."""
    stated: Any = release.design.specification.get("constraint", [])
    return msgspec.convert(stated, tuple[Constraint, ...])


def page(release: Release) -> str:
    """Return the page as HTML."""
    return rendered(TEMPLATE, context(facts(release), records_of(release)))


def context(facts: Facts, records: Records) -> dict[str, Any]:
    """Return the facts that the template names."""
    attributes = facts.schema.tabular
    paired = tuple(attributes[axis] for axis in records.paired)
    pairs, query = ranked(paired, records.codes[list(records.paired)]), example(facts)
    _, occurring = np.unique(records.codes, axis=1, return_counts=True)
    return {
        **frame(facts),
        "opening": _opening(facts, records),
        "records": records.size,
        "rows": None if records.rows is None else _rows(facts, records.rows),
        "file": NAME,
        "method": facts.method,
        "card": catalog.card(facts.method),
        "perturbed": facts.method in PERTURBED,
        "aligned": records.aligned,
        "representative": records.parameters.get("rows") == "representative",
        "parameters": _parameters(facts, records),
        "constraints": records.constraints,
        "linked": records.linked,
        "computed": records.computed,
        "noise_error": facts.predicted_error if math.isfinite(facts.predicted_error) else None,
        "distinct": occurring.size,
        "once": int((occurring == 1).sum()),
        "first": _first(records, facts.schema.tabular),
        "data": _every(records, facts.schema.tabular),
        "ones": [_attribute_figure(facts, records, axis) for axis in range(min(len(attributes), MOST_ATTRIBUTES))]
        if records.size
        else [],
        "hidden": max(0, len(attributes) - MOST_ATTRIBUTES),
        "pairs": _listed(pairs) if pairs else None,
        "pairs_in_all": len(pairs),
        "twos": _twos(pairs),
        "command": f"dpress query FOLDER {shlex.quote(query)}",
        "answer": facts.query(query).value,
    }


def _opening(facts: Facts, records: Records) -> tuple[str, ...]:
    """Return how many records and rows there are, as far as that is published, what is seen in them, and how sure."""
    sentences = [f"{number(records.size)} records of {number(len(facts.schema.names))} attributes."]
    if records.rows is not None:
        value, half = records.rows.value, half_width(records.rows.variance, CONFIDENCE, facts.tail)
        spread = math.sqrt(records.rows.variance)
        estimate = Estimate(value=value, ends=(value - half, value + half), error=spread)
        sentences.append(f"They stand for {total_sentence(estimate, facts.noun)}")
    shown = seen(records.table, facts.schema.tabular, records.codes)
    return *sentences, *((shown, sureness(records.likely)) if shown else ())


def _rows(facts: Facts, rows: RowCount) -> dict[str, Any]:
    """Return the number of rows with its error, as the page writes it."""
    half = half_width(rows.variance, CONFIDENCE, facts.tail)
    return {
        "public": not rows.variance,
        "count": number(rows.value, unit := max(1.0, unit_for(math.sqrt(rows.variance)))),
        "low": number(rows.value - half, unit),
        "high": number(rows.value + half, unit),
        "error": error(math.sqrt(rows.variance)),
    }


def _parameters(facts: Facts, records: Records) -> str:
    """Return the parameters that the method ran with; empty without any."""
    weights = facts.specification["release"]["parameters"].get("weights")
    named = [f"{name} = {value}" for name, value in records.parameters.items()]
    return ", ".join([*named, *([f"weights = {weights}"] if weights else [])])


def _first(records: Records, attributes: Sequence[Tabular]) -> Table:
    """Return the first records under the titles of their columns, values by their labels."""
    columns = _columns(records.table.slice(0, FIRST), attributes)
    names = tuple(attribute.caption for attribute in attributes)
    return Table(caption="The first records", names=names, labels=len(names), rows=tuple(zip(*columns, strict=True)))


def _every(records: Records, attributes: Sequence[Tabular]) -> str | None:
    """Return all records as the script of the page lists them; None where they are too many."""
    if records.size * len(attributes) > MOST_CELLS:
        return None
    columns = _columns(records.table, attributes)
    named = [(attribute.caption, column) for attribute, column in zip(attributes, columns, strict=True)]
    return lists_data([listed("records", named)])


def _columns(table: pa.Table, attributes: Sequence[Tabular]) -> list[list[str]]:
    """Return the values of every column as people read them."""
    columns = []
    for attribute, column in zip(attributes, table.columns, strict=True):
        labels = dict(zip(attribute.labels, attribute.captions, strict=True)) if attribute.labelled else {}
        columns.append([labels.get(text, text) for text in map(_value, column.to_pylist())])
    return columns


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def histogram_variance(records: Records, shape: Sequence[int], axis: int) -> float | None:
    """Return the variance of a count in an attribute's own noisy histogram; None where none was measured."""
    rows = tuple(rows for rows, _ in records.parts[: len(records.measured)])
    if axis not in records.measured or rows != tuple(shape[measured] for measured in records.measured):
        return None
    return records.parts[records.measured.index(axis)][1]


def _attribute_figure(facts: Facts, records: Records, axis: int) -> tuple[str, Figure]:
    """Return the figure of one attribute."""
    attribute = facts.schema.tabular[axis]
    variance = histogram_variance(records, facts.schema.shape, axis)
    view = attribute_view(attribute, records.codes[axis], variance, facts.tail)
    about: dict[str, Any] = {
        "numeric": attribute.scale is not None,
        "cells": attribute.size,
        "bins": view.axes[0].size,
        "noise": None if variance is None else half_width(variance, CONFIDENCE, facts.tail),
    }
    view, about["rests"] = shortened(view, None)
    drawing = figures.both(lambda width: charts.bars(view, width), f"Records by {view.name}")
    return view.name, Figure(drawing=drawing, facts=about)


def _listed(pairs: Sequence[PairView]) -> Table:
    """Return how far the records' pairs are from independence, the furthest first."""
    rows = tuple((pair.view.name, f"{pair.distance:.3f}") for pair in pairs[:MOST_LISTED])
    return Table(caption="Pairs of attributes", names=("pair", "from independence"), labels=1, rows=rows)


def _twos(pairs: Sequence[PairView]) -> list[tuple[str, Figure]]:
    """Return the figures of the pairs that are furthest from independence, of those that can be drawn."""
    drawable = [pair.view for pair in pairs if max(axis.size for axis in pair.view.axes) <= figures.MOST_ROWS]
    return [(view.name.replace(TIMES, " and "), _two(view)) for view in map(_turned, drawable[:MOST_PAIRS])]


def _turned(view: View) -> View:
    """Return the view with the axis of fewer cells as rows."""
    return view if view.axes[0].size <= view.axes[1].size else view.transposed((1, 0))


def _two(view: View) -> Figure:
    top = max(1.0, float(view.count.max()))
    drawing = figures.both(lambda width: charts.heat(view, width, top=top), f"Records by {view.name}")
    return Figure(drawing=drawing, shades=figures.shades(top))


def example(facts: Facts) -> str:
    """Return a query on the first attribute; the total, where the query language cannot spell a name or a label."""
    query = query_of(facts.schema.tabular[:1])
    try:
        facts.query(query)
    except ValueError:
        return "total"
    return query


PAGE = Page(page=page)
