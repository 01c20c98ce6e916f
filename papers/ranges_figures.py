"""The figures of the document on ranges: theory as lines, measured means with their standard errors as points."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
from pictures import averaged, marks, save
from quantities import Row, Tables, chosen, settings

STRATEGIES = {
    "identity": "#66a61e",
    "binary_tree": "#1b9e77",
    "boost": "#d95f02",
    "privelet": "#666666",
    "hierarchy": "#e7298a",
    "prefix": "#e6ab02",
    "dst": "#7570b3",
    "p_identity": "#a6761d",
}
COLOURS = {"predicted": "#334155", "measured": "#d9480f", "variances alone": "#2563eb"}
MSE = "mean squared error (counts squared)"
COLUMNS = 3
SETTING = ("strategy", "loss", "cells", "predicted")


def draw(folder: Path, tables: Tables) -> None:
    """Write every figure as SVG and PNG."""
    save(folder / "experiment_1", _per_range(tables["table_1"]))
    save(folder / "experiment_2", _by_size(averaged(tables["experiment_2_stated"], "measured", SETTING)))
    save(folder / "diagonal", _diagonal(tables["table_1"]))
    save(folder / "strategies", _over_bound(tables["sizes"]))
    save(folder / "lengths", _by_length(tables["lengths"]))


def _data(rows: Sequence[Row]) -> alt.Data:
    """Return rows as plain numbers and words."""
    plain = [
        {key: value if isinstance(value, str) or value is None else float(value) for key, value in row.items()}
        for row in rows
    ]
    return alt.Data(values=plain)


def _named(row: Row) -> str:
    return str(row["strategy"]) if row["loss"] == "epsilon = 1" else f"{row['strategy']} ({row['loss']})"


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Number the ranges of every strategy by predicted error."""
    out = []
    for own in settings(rows, ("strategy",)).values():
        ordered = sorted(own, key=lambda row: row["predicted"])
        out += [row | {"rank": rank + 1, "panel": _named(row)} for rank, row in enumerate(ordered)]
    return out


def _per_range(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Figure 4 of the document, a panel for every strategy; the variances alone are the negative control."""
    x = alt.X("rank:Q", title="range, by predicted error")
    y = alt.Y("predicted:Q", title=MSE, scale=_log(zero=False), axis=_decades())
    base = alt.Chart(_data(_ranked(rows)), width=260, height=190)
    theory = _as(base, "predicted").mark_line(strokeWidth=2).encode(x=x, y=y, color=_key())
    alone = _as(base, "variances alone").mark_point(shape="cross", size=26).encode(x=x, y="diagonal:Q", color=_key())
    error = _as(base, "measured").mark_rule().encode(x=x, y="bottom:Q", y2="top:Q", color=_key())
    points = _as(base, "measured").mark_point(filled=True, size=26).encode(x=x, y="measured:Q", color=_key())
    chart = alt.layer(alone, theory, error, points).facet(facet=alt.Facet("panel:N", title=None), columns=COLUMNS)
    ranges = len(rows) // len(settings(rows, ("strategy",)))
    title = f"Experiment 1: {ranges} random ranges of {rows[0]['cells']} cells, {rows[0]['runs']} runs each"
    return chart.resolve_scale(y="independent").resolve_axis(x="independent").properties(title=title)


def _by_size(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Figure 5 of the document; the identity strategy is the negative control."""
    x = alt.X("cells:Q", title="cells n", scale=_log(base=2), axis=alt.Axis(format="d", tickCount=11))
    y = alt.Y("predicted:Q", title=MSE, scale=_log(), axis=_decades())
    own = marks(STRATEGIES, [row["strategy"] for row in rows], "strategy")
    base = alt.Chart(_data(rows), width=560, height=380)
    line = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, **own)
    error = base.mark_rule().encode(x=x, y="bottom:Q", y2="top:Q", color=own["color"])
    points = base.mark_point(filled=True, size=60).encode(x=x, y="measured:Q", **own)
    title = alt.Title(
        f"Experiment 2: mean over all ranges, predicted (lines) and measured in {rows[0]['runs']} runs (marks)",
        subtitle="epsilon = 1; dst, which needs it, under rho = 0.5",
    )
    return alt.layer(line, error, points).properties(title=title)


def _diagonal(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """What adding up the cells' variances says, against what is measured; right for identity alone."""
    own = [row | {"panel": row["strategy"]} for row in chosen(rows, {"strategy": ("identity", "boost", "privelet")})]
    x = alt.X("length:Q", title="length of the range (cells)")
    y = alt.Y("diagonal:Q", title=MSE, scale=_log(zero=False), axis=_decades())
    base = alt.Chart(_data(own), width=280, height=260)
    line = _as(base, "variances alone").mark_line(strokeWidth=2).encode(x=x, y=y, color=_key())
    exact = _as(base, "predicted").mark_point(size=90).encode(x=x, y="predicted:Q", color=_key())
    error = _as(base, "measured").mark_rule().encode(x=x, y="bottom:Q", y2="top:Q", color=_key())
    points = _as(base, "measured").mark_point(filled=True, size=26).encode(x=x, y="measured:Q", color=_key())
    chart = alt.layer(line, exact, error, points).facet(facet=alt.Facet("panel:N", title=None), columns=COLUMNS)
    return chart.properties(
        title="The variances of the cells added up, without their covariances, and what is measured"
    )


def _over_bound(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Mean variance over the lower bound, by size and loss."""
    x = alt.X("cells:Q", title="cells n", scale=_log(base=2), axis=_powers(rows, "cells"))
    y = alt.Y("over_bound:Q", title="mean variance / lower bound", scale=_log(), axis=_decades())
    return _lines(rows, x, y).properties(title="Mean variance over all ranges against the lower bound")


def _by_length(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Mean variance by the length of the range: where ours lose."""
    x = alt.X("length:Q", title="length of the range (cells)", scale=_log(base=2), axis=_powers(rows, "length"))
    y = alt.Y("mean_variance:Q", title="mean variance (counts squared)", scale=_log(), axis=_decades())
    return _lines(rows, x, y).properties(title=f"Mean variance by the length of the range, {rows[0]['cells']} cells")


def _lines(rows: Sequence[Row], x: alt.X, y: alt.Y) -> alt.FacetChart:
    """Return a line with marks for every strategy, a panel for every loss."""
    own = marks(STRATEGIES, [row["strategy"] for row in rows], "strategy")
    base = alt.Chart(_data(rows), width=330, height=300).encode(x=x, y=y, **own)
    chart = alt.layer(base.mark_line(strokeWidth=1.5, point=False), base.mark_point(filled=True, size=60))
    chart = chart.facet(facet=alt.Facet("loss:N", title=None), columns=2)
    return chart.resolve_scale(y="independent").resolve_axis(x="independent")


def _log(**more: Any) -> alt.Scale:
    return alt.Scale(type="log", nice=False, **more)


def _decades() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5, labelOverlap=True)


def _powers(rows: Sequence[Row], column: str) -> alt.Axis:
    return alt.Axis(format="d", values=sorted({row[column] for row in rows}), labelOverlap=True)


def _as(base: alt.Chart, series: str) -> alt.Chart:
    return base.transform_calculate(series=f"'{series}'")


def _key() -> alt.Color:
    """Return the colours of the series, in the order of the legend."""
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("series:N", scale=scale, legend=alt.Legend(title=None, orient="top", labelLimit=300))
