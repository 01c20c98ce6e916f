"""The figures of the document on mixed microdata: SSE by epsilon, k and d, and record linkage by epsilon."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert as vlc

Row = dict[str, Any]
NAMES = {
    "dp_k_prototypes": "dp_k_prototypes (not proven)",
    "mdav": "mdav (not proven)",
    "per_value": "every value with epsilon",
    "per_record": "per_record",
    "insensitive_microaggregation": "insensitive_microaggregation",
    "representative": "dp_prototypes, representative",
    "mixture": "dp_prototypes, mixture",
}
COLOURS = ("#b91c1c", "#d97706", "#64748b", "#0f172a", "#7c3aed", "#1d4ed8", "#059669")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
MIDDLE = {"dp_k_prototypes": 20, "mdav": 20, "insensitive_microaggregation": 1000}
"""k of the figures without k; of others it is left to the plan, or they have none."""


def draw(folder: Path, rows: Sequence[Row]) -> None:
    """Write every figure as SVG and PNG."""
    named = [row | {"name": NAMES[row["method"]], "rate": float(row["epsilon"])} for row in rows]
    named = [row | {"panel": f"{row['d']} attributes", "at": f"epsilon = {row['epsilon']}"} for row in named]
    both = [row for row in named if row["d"] in {4, 8}]
    one = [row for row in named if row["asked"] == MIDDLE.get(row["method"], 0)]
    middle = [row for row in one if row["d"] in {4, 8}]
    by_k = [row for row in both if row["asked"] in range(3, 101)]
    log, budget = alt.Scale(type="log"), alt.Axis(values=[0.01, 0.1, 1, 10], format="~g")
    rate = alt.X("rate:Q", title="epsilon", scale=log, axis=budget)
    k = alt.X("asked:Q", title="k: clusters, or records of a group")
    d = alt.X("d:O", title="attributes", axis=alt.Axis(labelAngle=0))
    _save(folder / "sse_by_epsilon", _chart(middle, rate, "sse", "panel"), "k = 20 or as planned")
    _save(folder / "sse_by_k", _chart([r for r in by_k if r["d"] == 8], k, "sse", "at"), "8 attributes")
    _save(folder / "sse_by_d", _chart([r for r in one if r["asked"] < 1000], d, "sse", "at"), "k = 20 or as planned")
    linked = [row for row in both if row["method"] in {"dp_k_prototypes", "mdav"}]
    linked = [row | {"panel": f"{row['panel']}, k = {row['k']}"} for row in linked if row["k"] in {3, 20, 100}]
    shown = [row for row in linked if row["linkage_percent"] > 0]
    _save(folder / "linkage", _chart(shown, rate, "linkage_percent", "panel"), "the published methods")


def _save(path: Path, chart: alt.FacetChart, title: str) -> None:
    whole = chart.properties(title=title).configure_view(stroke=None)
    whole = whole.configure(font="DejaVu Sans, Helvetica, Arial, sans-serif")
    whole = whole.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    whole = whole.configure_legend(labelFontSize=12, symbolSize=90, labelLimit=300)
    text = whole.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None).to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def _chart(rows: Sequence[Row], x: alt.X, field: str, panel: str) -> alt.FacetChart:
    """Lines by method, a panel for every value of one more field."""
    places = [place for place, name in enumerate(NAMES.values()) if any(row["name"] == name for row in rows)]
    domain = [list(NAMES.values())[place] for place in places]
    legend = alt.Legend(title=None, orient="right")
    colour = alt.Color(
        "name:N", scale=alt.Scale(domain=domain, range=[COLOURS[place] for place in places]), legend=legend
    )
    shape = alt.Shape("name:N", scale=alt.Scale(domain=domain, range=[SHAPES[p] for p in places]), legend=legend)
    title = "SSE" if field == "sse" else "record linkage, per cent"
    axis = alt.Axis(format="~g", tickCount=6)
    y = alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log"), axis=axis)
    base = alt.Chart(alt.Data(values=list(rows)), width=300, height=230)
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, color=colour, shape=shape)
    order = list(dict.fromkeys(row[panel] for row in sorted(rows, key=lambda row: (row["rate"], row["d"], row["k"]))))
    facet = alt.Facet(f"{panel}:N", title=None, sort=order)
    return (
        alt.layer(lines, points).facet(facet=facet, columns=3 if len(order) != 4 else 2).resolve_axis(x="independent")
    )
