"""The figures of the document on ranges: theory as lines, measured means with their standard errors as points."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc
from claims import Tables, chosen, settings

Row = dict[str, Any]
COLOURS = {"predicted": "#334155", "measured": "#d9480f", "variances alone": "#2563eb"}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right")
MSE = "mean squared error (counts squared)"
COLUMNS = 3


def draw(folder: Path, tables: Tables) -> None:
    """Write every figure as SVG and PNG."""
    _save(folder / "experiment_1", _per_range(tables["table_1"]))
    _save(folder / "experiment_2", _by_size(averages(tables["experiment_2_stated"])))
    _save(folder / "diagonal", _diagonal(tables["table_1"]))
    _save(folder / "strategies", _over_bound(tables["sizes"]))
    _save(folder / "lengths", _by_length(tables["lengths"]))


def averages(rows: Sequence[Row]) -> list[Row]:
    """Return one row for every strategy and number of cells: the mean over runs, and one standard error around it."""
    out = []
    for own in settings(rows, ("strategy", "loss", "cells")).values():
        values = [row["measured"] for row in own]
        mean = sum(values) / len(values)
        error = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
        row = {key: value for key, value in own[0].items() if key != "run"} | {"measured": mean, "runs": len(values)}
        out.append(row | {"standard_error": error})
    return out


def _save(path: Path, chart: alt.TopLevelMixin) -> None:
    chart = chart.configure_view(stroke=None).configure(font="DejaVu Sans, Helvetica, Arial, sans-serif")
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    chart = chart.configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=90, labelLimit=300)
    chart = chart.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None)
    text = chart.to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def _data(rows: Sequence[Row]) -> alt.Data:
    """Return rows as plain numbers and words, with the ends of one standard error around what was measured."""
    plain = []
    for row in rows:
        own = {key: value if isinstance(value, str) or value is None else float(value) for key, value in row.items()}
        if "standard_error" in own:
            low, high = own["measured"] - own["standard_error"], own["measured"] + own["standard_error"]
            own |= {"low": max(low, own["measured"] / 10), "high": high}
        plain.append(own)
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
    error = _as(base, "measured").mark_rule().encode(x=x, y="low:Q", y2="high:Q", color=_key())
    points = _as(base, "measured").mark_point(filled=True, size=26).encode(x=x, y="measured:Q", color=_key())
    chart = alt.layer(alone, theory, error, points).facet(facet=alt.Facet("panel:N", title=None), columns=COLUMNS)
    ranges = len(rows) // len(settings(rows, ("strategy",)))
    title = f"Experiment 1: {ranges} random ranges of {rows[0]['cells']} cells, {rows[0]['runs']} runs each"
    return chart.resolve_scale(y="independent").resolve_axis(x="independent").properties(title=title)


def _by_size(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Figure 5 of the document; the identity strategy is the negative control."""
    named = [row | {"panel": _named(row)} for row in rows]
    x = alt.X("cells:Q", title="cells n", scale=_log(base=2), axis=alt.Axis(format="d", tickCount=11))
    y = alt.Y("predicted:Q", title=MSE, scale=_log(), axis=_decades())
    legend = alt.Legend(title="line: predicted, mark: measured", orient="right", titleLimit=300)
    color, shape = _marks("panel", named, legend)
    base = alt.Chart(_data(named), width=560, height=380)
    line = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=color, shape=shape)
    error = base.mark_rule().encode(x=x, y="low:Q", y2="high:Q", color=color)
    points = base.mark_point(filled=True, size=60).encode(x=x, y="measured:Q", color=color, shape=shape)
    title = f"Experiment 2: mean over all ranges, {rows[0]['runs']} runs"
    return alt.layer(line, error, points).properties(title=title)


def _diagonal(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """What adding up the cells' variances says, against what is measured; right for identity alone."""
    own = [row | {"panel": row["strategy"]} for row in chosen(rows, {"strategy": ("identity", "boost", "privelet")})]
    x = alt.X("length:Q", title="length of the range (cells)")
    y = alt.Y("diagonal:Q", title=MSE, scale=_log(zero=False), axis=_decades())
    base = alt.Chart(_data(own), width=280, height=260)
    line = _as(base, "variances alone").mark_line(strokeWidth=2).encode(x=x, y=y, color=_key())
    exact = _as(base, "predicted").mark_point(size=90).encode(x=x, y="predicted:Q", color=_key())
    error = _as(base, "measured").mark_rule().encode(x=x, y="low:Q", y2="high:Q", color=_key())
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
    color, shape = _marks("strategy", rows, alt.Legend(title=None, orient="right"))
    base = alt.Chart(_data(rows), width=330, height=300).encode(x=x, y=y, color=color, shape=shape)
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


def _marks(field: str, rows: Sequence[Row], legend: alt.Legend) -> tuple[alt.Color, alt.Shape]:
    """Return colour and shape of every strategy, one legend for both."""
    names = sorted({row[field] for row in rows})
    color = alt.Color(f"{field}:N", scale=alt.Scale(domain=names, scheme="dark2"), legend=legend)
    return color, alt.Shape(f"{field}:N", scale=alt.Scale(domain=names, range=SHAPES[: len(names)]), legend=legend)
