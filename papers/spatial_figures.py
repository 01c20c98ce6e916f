"""The figures of the document on positions: error by epsilon and by the size of queries, by domain, by the grid."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
from pictures import averaged, marks, save
from quantities import Row, Tables
from spatial_methods import SOURCES

NAMES = {
    "krr": "krr",
    "rappor": "rappor",
    "oue": "oue (whole domain)",
    "n_gtr": "n_gtr (oue)",
    "n_psda": "n_psda",
    "qt_krr": "qt_krr",
    "qt_rappor": "qt_rappor",
    "psda": "psda (within regions)",
    "gtr": "gtr",
    "gtr_top_down": "gtr_top_down",
    "dam": "dam",
    "ahead": "ahead (in rounds)",
    "uniform": "uniform map (no data)",
}
SHADES = (
    "#a16207", "#d97706", "#6b21a8", "#64748b", "#0e7490", "#be185d", "#e11d48", "#4d7c0f", "#b91c1c", "#1d4ed8",
    "#7c3aed", "#059669", "#111827",
)  # fmt: skip
COLOURS = dict(zip(NAMES.values(), SHADES, strict=True))
STATED = {("checkin", "0.9", "10 to 50 %"): "Checkin", ("landmark", "0.5", "20 to 60 %"): "Landmark"}
EPSILONS = alt.Axis(values=[0.1, 0.3, 0.5, 0.7, 0.9])


def draw(folder: Path, tables: Tables) -> None:
    """Write every figure as SVG and PNG."""
    rows = _named(tables["errors"])
    for data, source in SOURCES.items():
        own = [row for row in rows if row["data"] == data]
        domain = [row for row in own if row["experiment"] == "domain" and row["grid"] == 16]
        ours = [row for row in own if row["experiment"] == "ours" and row["method"] != "uniform"]
        for side in sorted({row["domain"] for row in domain} & {16, max(row["domain"] for row in domain)}):
            shown = [row for row in domain if row["domain"] == side] + ours
            words = f"{source.name}: GT-R at 16 a side, its rivals at {side}, ours at their own"
            save(folder / f"by_epsilon_{data}_{side}", _by_epsilon(shown, words))
            save(folder / f"by_size_{data}_{side}", _by_size(shown, words))
    save(folder / "by_domain", _by_domain(rows))
    save(folder / "sides", _sides(rows))
    save(folder / "crossover", _crossover(tables["crossover"]))


def _named(rows: Sequence[Row]) -> list[Row]:
    """Return the mean over the runs of every setting, as its method and its panel are called."""
    by = ("experiment", "data", "method", "side", "grid", "domain", "epsilon", "size", "low")
    given = [{name: row.get(name, "") for name in by} | row for row in rows]
    return [
        row | {"rate": float(row["epsilon"]), "name": NAMES[row["method"]], "panel": _area(row)}
        for row in averaged(given, "relative_error", by)
    ]


def _area(row: Row) -> str:
    small = " (below the document's)" if row["low"] < 0.01 else ""
    return f"{row['size']} of the area{small}"


def _chart(rows: Sequence[Row], x: alt.X, title: str, y: str = "mean relative error") -> alt.FacetChart:
    """Relative error, a panel for every setting; bars are standard errors of the mean."""
    order = list(dict.fromkeys(row["panel"] for row in sorted(rows, key=lambda row: (row["low"] < 0.01, row["low"]))))
    axis = alt.Axis(format="~g", tickCount=6)
    own = alt.Y("relative_error:Q", title=y, scale=alt.Scale(type="log"), axis=axis)
    look = marks(COLOURS, [row["name"] for row in rows])
    base = alt.Chart(alt.Data(values=list(rows)), width=300, height=230)
    bars = base.mark_rule(opacity=0.6).encode(x=x, y="bottom:Q", y2="top:Q", color=look["color"])
    lines = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=own, color=look["color"])
    points = base.mark_point(filled=True, size=40).encode(x=x, y=own, **look)
    chart = alt.layer(bars, lines, points).facet(facet=alt.Facet("panel:N", title=None, sort=order), columns=3)
    return chart.resolve_axis(x="independent").resolve_scale(y="independent").properties(title=title)


def _by_epsilon(rows: Sequence[Row], title: str) -> alt.TopLevelMixin:
    x = alt.X("rate:Q", title="epsilon of a report", scale=alt.Scale(domain=[0, 1]), axis=EPSILONS)
    return _chart(rows, x, title)


def _by_size(rows: Sequence[Row], title: str) -> alt.TopLevelMixin:
    order = list(dict.fromkeys(row["size"] for row in sorted(rows, key=lambda row: row["low"])))
    x = alt.X("size:O", title="area of the queries", sort=order, axis=alt.Axis(labelAngle=0))
    own = [row | {"panel": f"epsilon {row['epsilon']}", "low": row["rate"]} for row in rows]
    return _chart(own, x, title)


def _by_domain(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Every rival's error by its domain, at the settings for which the document prints factors."""
    own = [
        row | {"panel": f"{STATED[place]}, epsilon {row['epsilon']}, queries of {row['size']}"}
        for row in rows
        if (place := (row["data"], row["epsilon"], row["size"])) in STATED and row["grid"] == 16
    ]
    x = alt.X("domain:Q", title="cells along an axis of the rivals' domain", scale=_SIDES, axis=_AT)
    return _chart(own, x, "GT-R at 16 a side, and its rivals by their domain")


_SIDES, _AT = alt.Scale(type="log", base=2, nice=False), alt.Axis(values=[8, 16, 32, 64, 128, 256])


def _sides(rows: Sequence[Row]) -> alt.TopLevelMixin:
    own = [row for row in rows if row["epsilon"] == "0.5" and row["data"] == "landmark"]
    swept = [row for row in own if row["experiment"] == "sides"]
    even: list[Mapping[str, Any]] = [row for row in own if (row["experiment"], row["method"]) == ("ours", "uniform")]
    sides = sorted({row["side"] for row in swept})
    drawn = swept + [{**row, "side": side} for row in even for side in (sides[0], sides[-1])]
    x = alt.X("side:Q", title="cells along an axis", scale=_SIDES, axis=_AT)
    return _chart(drawn, x, "Landmark, epsilon 0.5: error by the grid, simulated answers")


def _crossover(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """GT-R's exact variance and that by Theorem 6, in units of the direct method's for a cell, by the cells covered."""
    names = {"variance": "GT-R, exact", "bound": "GT-R by Theorem 6: 8 eta", "cells": "direct method"}
    values = [
        {"cells": row["cells"], "units": own[key], "name": name, "panel": f"{row['side']} cells along an axis"}
        | {"low": row["side"]}
        for row in rows
        for own in [row | {"bound": 8 * row["nodes"]}]
        for key, name in names.items()
    ]
    scale = alt.Scale(domain=list(names.values()), range=["#b91c1c", "#64748b", "#1d4ed8"])
    order = list(dict.fromkeys(row["panel"] for row in sorted(values, key=lambda row: row["low"])))
    log = alt.Scale(type="log")
    chart = alt.Chart(alt.Data(values=values), width=300, height=230).mark_point(filled=True, size=25)
    drawn = chart.encode(
        x=alt.X("cells:Q", title="cells that the query covers", scale=log),
        y=alt.Y("units:Q", title="variance / (4 n e^epsilon / (e^epsilon - 1)^2)", scale=log),
        color=alt.Color("name:N", scale=scale, legend=alt.Legend(title=None)),
        shape=alt.Shape("name:N", scale=alt.Scale(domain=list(names.values())), legend=alt.Legend(title=None)),
    )
    facet = drawn.facet(facet=alt.Facet("panel:N", title=None, sort=order), columns=3)
    return facet.properties(title="Whole rectangles: GT-R's exact error, Theorem 6, and the direct method")
