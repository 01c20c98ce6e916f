"""The figures of the document on joint distributions: error and time of every estimator, and sizes of reports."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc

Row = dict[str, Any]
NAMES = {
    "em": "em (published)",
    "lasso": "lasso (published)",
    "lremh": "lremh (published)",
    "product": "product of one-way tables",
    "early": "likelihood, stopped early",
    "one": "one oracle on the joint",
    "pairs": "pairs",
    "triples": "triples",
}
COLOURS = ("#b91c1c", "#d97706", "#a16207", "#64748b", "#0e7490", "#4d7c0f", "#1d4ed8", "#7c3aed")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right")
PEOPLE = {"all": "everybody", "sample": "the document's sample"}
COLUMNS = 3


def draw(folder: Path, rows: Sequence[Row], sizes: Sequence[Row]) -> None:
    """Write every figure as SVG and PNG."""
    own = [_named(row) for row in rows if row["reports"] == "rr_ldp"]
    for who in PEOPLE:
        _save(folder / f"error_{who}", _errors([row for row in own if row["who"] == who], who))
    _save(folder / "seconds", _seconds(own))
    _save(folder / "report_sizes", _sizes(sizes))


def _named(row: Row) -> Row:
    panel = f"{row['data'].upper() if row['data'] == 'nltcs' else 'Adult'}, k = {row['k']}, {row['cells']:,} cells"
    return row | {"name": NAMES[row["method"]], "panel": panel, "rate": float(row["f"])}


def _save(path: Path, chart: alt.TopLevelMixin) -> None:
    chart = chart.configure_view(stroke=None).configure(font="DejaVu Sans, Helvetica, Arial, sans-serif")
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    chart = chart.configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=90, labelLimit=300)
    chart = chart.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None)
    text = chart.to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def _marks() -> dict[str, Any]:
    """Return colour and shape of every method, one legend for both, the same in all figures."""
    names, legend = list(NAMES.values()), alt.Legend(title=None, orient="right")
    color = alt.Color("name:N", scale=alt.Scale(domain=names, range=list(COLOURS)), legend=legend)
    return {"color": color, "shape": alt.Shape("name:N", scale=alt.Scale(domain=names, range=SHAPES), legend=legend)}


def _errors(rows: Sequence[Row], who: str) -> alt.TopLevelMixin:
    """Error by f, a panel for every data set and number of attributes; bars are standard errors of the mean."""
    data = [
        row | {"low": row["avd"] - row["standard_error"], "high": row["avd"] + row["standard_error"]} for row in rows
    ]
    order = list(dict.fromkeys(row["panel"] for row in sorted(data, key=lambda row: (row["data"], row["k"]))))
    x = alt.X("rate:Q", title="f of the permanent response", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("avd:Q", title="AVD (half the L1 distance)", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(alt.Data(values=data), width=250, height=190)
    bars = base.mark_rule(opacity=0.6).encode(x=x, y="low:Q", y2="high:Q", color=_marks()["color"])
    lines = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=_marks()["color"])
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, **_marks())
    chart = alt.layer(bars, lines, points).facet(facet=alt.Facet("panel:N", title=None, sort=order), columns=COLUMNS)
    return chart.resolve_axis(x="independent").properties(
        title=f"Error at the same epsilon a report, {PEOPLE[who]}, means of {rows[0]['runs']} runs (likelihood: 3)"
    )


def _seconds(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Time by the number of cells, mean over f."""
    data: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        panel = f"{row['data']}, {PEOPLE[row['who']]}"
        data.setdefault((panel, row["name"], row["cells"]), []).append(row["seconds"])
    values = [
        {"panel": panel, "name": name, "cells": cells, "seconds": sum(own) / len(own)}
        for (panel, name, cells), own in data.items()
    ]
    scale, axis = alt.Scale(type="log", nice=False), alt.Axis(format="~s", tickCount=5, labelOverlap=True)
    x = alt.X("cells:Q", title="cells of the joint table", scale=scale, axis=axis)
    ticks = alt.Axis(format="~g", tickCount=6)
    y = alt.Y("seconds:Q", title="seconds from reports to table", scale=scale, axis=ticks)
    base = alt.Chart(alt.Data(values=values), width=330, height=250)
    lines = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=_marks()["color"])
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, **_marks())
    chart = alt.layer(lines, points).facet(facet=alt.Facet("panel:N", title=None), columns=2)
    return chart.resolve_axis(x="independent").properties(title="Time on one core, mean over f")


def _sizes(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Bits of a report by the number of attributes."""
    values = [
        {"panel": row["data"], "k": row["k"], "bits": row[f"{name}_bits"], "report": words}
        for row in rows
        for name, words in (("rr_ldp", "rr_ldp: one-hot strings"), ("rappor", "rappor: filters of 128 bits"))
    ]
    x = alt.X("k:Q", title="attributes", axis=alt.Axis(format="d"))
    y = alt.Y("bits:Q", title="bits a report", scale=alt.Scale(type="log"))
    legend = alt.Legend(title=None, orient="top", labelLimit=300)
    color = alt.Color("report:N", scale=alt.Scale(range=["#334155", "#d9480f"]), legend=legend)
    chart = (
        alt.Chart(alt.Data(values=values), width=330, height=220).mark_line(point=True).encode(x=x, y=y, color=color)
    )
    return chart.facet(facet=alt.Facet("panel:N", title=None), columns=2).properties(title="Size of a report")
