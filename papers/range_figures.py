"""The figures of the document on ranges: theory as lines, measured means as points."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc

Row = dict[str, Any]
INK, MEASURED = "#334155", "#d9480f"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right")
MSE = "mean squared error (counts squared)"
COLUMNS = 3


def draw(folder: Path, first: Sequence[Row], second: Sequence[Row], table: Sequence[Row]) -> None:
    """Write every figure as SVG and PNG."""
    _save(folder / "experiment_1", _per_range(first))
    _save(folder / "experiment_2", _by_size(second))
    _save(folder / "diagonal", _diagonal(first))
    _save(folder / "strategies", _ratios(table))


def _save(path: Path, chart: alt.TopLevelMixin) -> None:
    chart = chart.configure_view(stroke=None).configure(font="DejaVu Sans, Helvetica, Arial, sans-serif")
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    chart = chart.configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=90, labelLimit=300)
    chart = chart.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None)
    text = chart.to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def _data(rows: Sequence[Row]) -> alt.Data:
    plain = [
        {key: value if isinstance(value, str) else value and float(value) for key, value in row.items()} for row in rows
    ]
    return alt.Data(values=plain)


def _named(row: Row) -> str:
    return row["strategy"] if row["loss"] == "epsilon = 1" else f"{row['strategy']} ({row['loss']})"


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Number the ranges of every strategy by predicted error."""
    out = []
    for name in dict.fromkeys(row["strategy"] for row in rows):
        own = sorted((row for row in rows if row["strategy"] == name), key=lambda row: row["predicted"])
        out += [row | {"rank": rank + 1, "panel": _named(row)} for rank, row in enumerate(own)]
    return out


def _per_range(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Figure 4 of the document, a panel for every strategy."""
    x = alt.X("rank:Q", title="range, by predicted error")
    y = alt.Y("predicted:Q", title=MSE, scale=alt.Scale(type="log", zero=False, nice=False), axis=_decades())
    base = alt.Chart(_data(_ranked(rows)), width=260, height=190)
    theory = _as(base, "predicted").mark_line(strokeWidth=2).encode(x=x, y=y, color=_key())
    points = _as(base, "measured").mark_point(filled=True, size=26).encode(x=x, y="measured:Q", color=_key())
    chart = alt.layer(theory, points).facet(facet=alt.Facet("panel:N", title=None), columns=COLUMNS)
    runs = rows[0]["runs"]
    title = f"Experiment 1: {len(_ranked(rows)) // len({r['strategy'] for r in rows})} random ranges, {runs} runs each"
    return chart.resolve_scale(y="independent").resolve_axis(x="independent").properties(title=title)


def _decades() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5, labelOverlap=True)


def _as(base: alt.Chart, series: str) -> alt.Chart:
    return base.transform_calculate(series=f"'{series}'")


def _key(**more: str) -> alt.Color:
    """Return the colours of the series, in the order of the legend."""
    colours = {"predicted": INK, "measured": MEASURED} | more
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color("series:N", scale=scale, legend=alt.Legend(title=None, orient="top", labelLimit=300))


def _by_size(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Figure 5 of the document."""
    named = [row | {"panel": _named(row)} for row in rows]
    x = alt.X("cells:Q", title="cells n", scale=alt.Scale(type="log", base=2), axis=alt.Axis(format="d", tickCount=11))
    y = alt.Y("predicted:Q", title=MSE, scale=alt.Scale(type="log", nice=False), axis=_decades())
    legend = alt.Legend(title="line: predicted, mark: measured", orient="right", titleLimit=300)
    color, shape = _marks("panel", named, legend)
    base = alt.Chart(_data(named), width=560, height=380)
    points = base.mark_point(filled=True, size=60).encode(x=x, y="measured:Q", color=color, shape=shape)
    title = f"Experiment 2: mean over all ranges, {rows[0]['runs']} runs"
    return alt.layer(
        base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=color, shape=shape), points
    ).properties(title=title)


def _diagonal(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """What adding up the cells' variances says, against what is measured."""
    own = [row | {"panel": row["strategy"]} for row in rows if row["strategy"] in ("privelet", "boost")]
    color = _key(**{"variances alone": "#2563eb"})
    x = alt.X("length:Q", title="length of the range (cells)")
    y = alt.Y("diagonal:Q", title=MSE, scale=alt.Scale(type="log", nice=False, zero=False), axis=_decades())
    base = alt.Chart(_data(own), width=380, height=280)
    line = _as(base, "variances alone").mark_line(strokeWidth=2).encode(x=x, y=y, color=color)
    exact = _as(base, "predicted").mark_point(size=90).encode(x=x, y="predicted:Q", color=color)
    points = _as(base, "measured").mark_point(filled=True, size=26).encode(x=x, y="measured:Q", color=color)
    chart = alt.layer(line, exact, points).facet(facet=alt.Facet("panel:N", title=None), columns=2)
    return chart.properties(title="Adding up the variances of the cells alone is wrong for ranges")


def _ratios(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Mean variance over the lower bound, by size and loss."""
    legend = alt.Legend(title=None, orient="right")
    ticks = sorted({row["cells"] for row in rows})
    x = alt.X("cells:Q", title="cells n", scale=alt.Scale(type="log", base=2), axis=alt.Axis(format="d", values=ticks))
    y = alt.Y("ratio:Q", title="mean variance / lower bound", scale=alt.Scale(type="log", nice=False), axis=_decades())
    color, shape = _marks("strategy", rows, legend)
    base = alt.Chart(_data(rows), width=330, height=300).encode(x=x, y=y, color=color)
    chart = alt.layer(
        base.mark_line(strokeWidth=1.5, point=False).encode(shape=shape),
        base.mark_point(filled=True, size=60).encode(shape=shape),
    )
    chart = chart.facet(facet=alt.Facet("loss:N", title=None), columns=2)
    return chart.resolve_scale(y="independent").properties(title="Mean variance over all ranges against the bound")


def _marks(field: str, rows: Sequence[Row], legend: alt.Legend) -> tuple[alt.Color, alt.Shape]:
    """Return colour and shape of every strategy, one legend for both."""
    names = sorted({row[field] for row in rows})
    color = alt.Color(f"{field}:N", scale=alt.Scale(domain=names, scheme="dark2"), legend=legend)
    return color, alt.Shape(f"{field}:N", scale=alt.Scale(domain=names, range=SHAPES[: len(names)]), legend=legend)
