"""The figures of the document on positions: relative error by epsilon for every size of queries, and by the grid."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc
from spatial_methods import SOURCES

Row = dict[str, Any]
NAMES = {
    "krr": "krr",
    "rappor": "rappor",
    "n_gtr": "n_gtr (oue)",
    "n_psda": "n_psda",
    "qt_krr": "qt_krr",
    "qt_rappor": "qt_rappor",
    "psda": "psda (within regions)",
    "gtr": "gtr",
    "gtr_top_down": "gtr_top_down",
    "dam": "dam",
    "ahead": "ahead (in rounds)",
}
COLOURS = (
    "#a16207", "#d97706", "#64748b", "#0e7490", "#be185d", "#e11d48", "#4d7c0f", "#b91c1c", "#1d4ed8", "#7c3aed",
    "#059669",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right")
FLAT = ("krr", "rappor", "n_gtr", "n_psda")


def draw(folder: Path, rows: Sequence[Row]) -> None:
    """Write every figure as SVG and PNG."""
    named = [row | {"name": NAMES[row["method"]], "panel": _panel(row), "rate": float(row["epsilon"])} for row in rows]
    side = min(row["side"] for row in named if row["experiment"] == "nine")
    for data, source in SOURCES.items():
        own = [row for row in named if row["data"] == data]
        nine = [row for row in own if row["experiment"] == "nine" and row["side"] == side]
        ours = [row for row in own if row["experiment"] == "ours"]
        _save(folder / f"errors_{data}", _errors(nine + ours, f"{source.name}: published systems at side {side}, ours"))
    _save(folder / "sides", _sides([row for row in named if row["experiment"] == "sides"]))


def _panel(row: Row) -> str:
    return f"{100 * row['low']:g} to {100 * row['high']:g} % of the area"


def _save(path: Path, chart: alt.TopLevelMixin) -> None:
    chart = chart.configure_view(stroke=None).configure(font="DejaVu Sans, Helvetica, Arial, sans-serif")
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    chart = chart.configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=90, labelLimit=300)
    chart = chart.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None)
    text = chart.to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def _marks(rows: Sequence[Row]) -> dict[str, Any]:
    """Return colour and shape of the methods, one legend for both, the same in all figures."""
    names, legend = list(NAMES.values()), alt.Legend(title=None, orient="right")
    used = [place for place, name in enumerate(names) if any(row["name"] == name for row in rows)]
    domain, shapes = [names[place] for place in used], [SHAPES[place % len(SHAPES)] for place in used]
    colours = alt.Scale(domain=domain, range=[COLOURS[place] for place in used])
    shape = alt.Shape("name:N", scale=alt.Scale(domain=domain, range=shapes), legend=legend)
    return {"color": alt.Color("name:N", scale=colours, legend=legend), "shape": shape}


def _chart(rows: Sequence[Row], x: alt.X, columns: int) -> alt.FacetChart:
    """Relative error, a panel for every size of queries; bars are standard errors of the mean."""
    data = [
        row
        | {
            "bottom": max(row["relative_error"] - row["standard_error"], row["relative_error"] / 2),
            "top": row["relative_error"] + row["standard_error"],
        }
        for row in rows
    ]
    order = list(dict.fromkeys(row["panel"] for row in sorted(data, key=lambda row: (row["low"] < 0.01, row["low"]))))
    axis = alt.Axis(format="~g", tickCount=6)
    y = alt.Y("relative_error:Q", title="mean relative error", scale=alt.Scale(type="log"), axis=axis)
    marks = _marks(data)
    base = alt.Chart(alt.Data(values=data), width=300, height=230)
    bars = base.mark_rule(opacity=0.6).encode(x=x, y="bottom:Q", y2="top:Q", color=marks["color"])
    lines = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=marks["color"], detail="data:N")
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, **marks)
    chart = alt.layer(bars, lines, points).facet(facet=alt.Facet("panel:N", title=None, sort=order), columns=columns)
    return chart.resolve_axis(x="independent").resolve_scale(y="independent")


def _errors(rows: Sequence[Row], title: str) -> alt.TopLevelMixin:
    axis = alt.Axis(values=[0.1, 0.3, 0.5, 0.7, 0.9])
    x = alt.X("rate:Q", title="epsilon of a report", scale=alt.Scale(domain=[0, 1]), axis=axis)
    return _chart(rows, x, 3).properties(title=title)


def _sides(rows: Sequence[Row]) -> alt.TopLevelMixin:
    own = [row for row in rows if row["epsilon"] == "0.5" and row["data"] == "landmark"]
    scale = alt.Scale(type="log", base=2, nice=False)
    x = alt.X("side:Q", title="cells along an axis", scale=scale, axis=alt.Axis(values=[8, 16, 32, 64, 128, 256]))
    return _chart(own, x, 3).properties(title="Landmark, epsilon 0.5: error by the grid, simulated answers")
