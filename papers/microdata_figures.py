"""The figures of the document on mixed microdata, in its axes, with both controls in each that compares releases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pictures
from quantities import Row, Tables, chosen, settings

NAMES = {
    "dp_k_prototypes": "dp_k_prototypes (not proven)",
    "mdav": "mdav, groups of k (not proven)",
    "mdav as many": "mdav, k groups (not proven)",
    "per_value": "every value with epsilon",
    "per_record": "per_record",
    "insensitive_microaggregation": "insensitive_microaggregation",
    "representative": "dp_prototypes, representative",
    "mixture": "dp_prototypes, mixture",
    "graphical": "graphical",
    "permuted columns": "control: permuted columns",
    "constant record": "control: one constant record",
}
SHADES = ("#b91c1c", "#d97706", "#fbbf24", "#64748b", "#0f172a", "#7c3aed", "#1d4ed8", "#059669", "#0891b2")
SHADES += ("#a3a3a3", "#d4a373")
COLOURS = dict(zip(NAMES.values(), SHADES, strict=True))
CONTROLS = ("permuted columns", "constant record")
MEASURES = {
    "aligned": "SSE, row i against record i",
    "matched": "SSE, rows matched (a lower bound)",
    "two_way": "total variation, tables of two",
    "linkage": "record linkage, per cent",
}
ALIGNED = ("dp_k_prototypes", "mdav", "mdav as many", "per_value", "per_record", "insensitive_microaggregation")
UNORDERED = ("representative", "mixture", "graphical")


def draw(folder: Path, tables: Tables) -> None:
    """Write every figure as SVG and PNG."""
    rows = [_named(row) for row in tables["errors"]]
    one = [row for row in rows if row["starts"] != "fresh starts per epsilon"]
    ds = sorted({row["d"] for row in one if row.get("linkage") is not None})
    middle = [row for row in chosen(one, {"d": tuple(ds)}) if _middle(row)]
    ordered = [row for row in middle if row["kind"] in (*ALIGNED, *CONTROLS)]
    _save(folder / "sse_by_epsilon", _by_epsilon(ordered, "aligned"), "SSE of releases in the rows' order; k = 20")
    _save(folder / "matched_by_epsilon", _by_epsilon(middle, "matched"), "SSE of 500 matched rows, times all; k = 20")
    _save(folder / "two_way_by_epsilon", _by_epsilon(middle, "two_way"), "Error of tables of two attributes; k = 20")
    by_k = [row for row in chosen(one, {"d": tuple(ds)}) if row["kind"] in (*ALIGNED[:3], *CONTROLS)]
    shown = [row for row in by_k if row["epsilon"] in ("0.1", "1", "10")]
    _save(folder / "sse_by_k", _by_k(shown, "aligned"), "SSE of releases in the rows' order, by k")
    ours = [row for row in chosen(one, {"d": tuple(ds)}) if row["kind"] == "representative" and row["k"]]
    shown = [row for row in [*by_k, *ours] if row["d"] == ds[-1] and row["epsilon"] in ("0.1", "1", "10")]
    _save(folder / "matched_by_k", _by_k(shown, "matched"), "SSE of 500 matched rows, times all, by k")
    linked = [row for row in by_k if row["d"] == ds[-1]]  # as the document has it
    _save(folder / "linkage_by_k", _by_k(linked, "linkage"), f"Record linkage (RL), by k; {ds[-1]} attributes")
    _save(folder / "sse_by_d", _by_d(one), "SSE of releases in the rows' order, by attributes; epsilon = 1")
    _save(folder / "starts", _starts([row for row in rows if row["kind"] in ("dp_k_prototypes", *CONTROLS)]),
          "SSE of DP-k-prototypes: each run a line; 8 attributes, k = 20")  # fmt: skip
    _save(folder / "replaced", _replaced(tables["replaced"]), "What one replaced record does to the clusters")


def _named(row: Row) -> Row:
    kind = row["method"]
    if kind == "mdav" and row["compared"] == "as many groups as clusters":
        kind = "mdav as many"
    panel = f"{row['d']} attributes"
    more = {"kind": kind, "name": NAMES[kind], "rate": float(row["epsilon"]), "panel": panel}
    return {"starts": "", "compared": "", **row, **more, "at": f"{panel}, epsilon = {row['epsilon']}"}


def _middle(row: Row) -> bool:
    """Say whether a row is in figures without k: k = 20, the least large groups, or what the plan chooses."""
    if row["kind"] == "insensitive_microaggregation":
        return bool(row["k"] <= 1000)
    return bool(row["k"] == (20 if row["kind"] in ALIGNED[:3] else 0))


def _by_epsilon(rows: Sequence[Row], column: str) -> alt.FacetChart:
    axis = alt.Axis(values=[0.01, 0.1, 1, 10], format="~g")
    x = alt.X("rate:Q", title="epsilon", scale=alt.Scale(type="log"), axis=axis)
    return _chart(rows, x, column, "panel", ("rate",))


def _by_k(rows: Sequence[Row], column: str) -> alt.FacetChart:
    """Lines by k; the controls, which have none, are as long as the others."""
    sizes = sorted({row["k"] for row in rows if row["kind"] not in CONTROLS})
    level = [row | {"k": k} for row in rows if row["kind"] in CONTROLS for k in (sizes[0], sizes[-1])]
    own = [row for row in rows if row["kind"] not in CONTROLS and row[column]]
    x = alt.X("k:Q", title="k", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=sizes))
    return _chart([*own, *(row for row in level if row[column])], x, column, "at", ("k",))


def _by_d(rows: Sequence[Row]) -> alt.FacetChart:
    """A panel for each k; what has none stands in each."""
    own = [row for row in chosen(rows, {"epsilon": "1"}) if row["kind"] in ("dp_k_prototypes", "mdav")]
    sizes = [k for k in (4, 20, 40) if any(row["k"] == k for row in own)]
    others = [row for row in chosen(rows, {"epsilon": "1"}) if row["kind"] in ("per_value", "per_record", *CONTROLS)]
    every = [row | {"panel": f"k = {k}"} for k in sizes for row in [*chosen(own, {"k": k}), *others]]
    return _chart(every, alt.X("d:O", title="attributes", axis=alt.Axis(labelAngle=0)), "aligned", "panel", ("d",))


def _starts(rows: Sequence[Row]) -> alt.FacetChart:
    """A panel for each way to start, with a line for every run."""
    own = [row for row in chosen(rows, {"d": 8, "k": 20}) if row["kind"] == "dp_k_prototypes"]
    controls = [row for row in chosen(rows, {"d": 8}) if row["kind"] in CONTROLS]
    ways = list(dict.fromkeys(row["starts"] for row in own))
    every = [row | {"panel": row["starts"]} for row in own]
    every += [row | {"panel": way} for way in ways for row in controls if row["run"] == 0]
    axis = alt.Axis(values=[0.01, 0.1, 1, 10], format="~g")
    x = alt.X("rate:Q", title="epsilon", scale=alt.Scale(type="log"), axis=axis)
    return _chart(every, x, "aligned", "panel", ("rate", "run"))


def _replaced(rows: Sequence[Row]) -> alt.HConcatChart:
    """What each replacement does, in order: other records that change their cluster, and how far a mean moves."""
    colour = alt.Color("clusters:N", legend=alt.Legend(title=None), scale=alt.Scale(range=list(SHADES[:4])))
    parts = []
    for column, title, stated in (
        ("others", "others that change their cluster", 0),
        ("times", "move of a mean, claimed: at most 1", 1),
    ):
        ranks = [
            {"rank": rank, "clusters": setting, column: row[column]}
            for (setting,), own in settings(rows, ("clusters",)).items()
            for rank, row in enumerate(sorted(own, key=lambda one: one[column]), start=1)
        ]
        x = alt.X("rank:Q", title="replacements, in order")
        y = alt.Y(f"{column}:Q", title=title, scale=alt.Scale(type="symlog"))
        points = alt.Chart(alt.Data(values=ranks), width=320, height=230).mark_point(filled=True, size=30)
        limit = alt.Data(values=[{column: stated}])  # as claimed
        rule = alt.Chart(limit).mark_rule(strokeDash=[4, 3], color="#334155").encode(y=f"{column}:Q")
        parts.append(alt.layer(rule, points.encode(x=x, y=y, color=colour)))
    return alt.hconcat(*parts)


def _chart(rows: Sequence[Row], x: alt.X, column: str, panel: str, along: Sequence[str]) -> alt.FacetChart:
    """Lines by method with standard errors, a panel for every value of one more field; with `run`, one a run."""
    fields = ("name", "d", panel, *along)
    known = [row for row in rows if row.get(column) is not None]
    shown = pictures.averaged(known, column, tuple(dict.fromkeys(fields)))
    marks = pictures.marks(COLOURS, [row["name"] for row in shown])
    log = alt.Scale(type="log")
    y = alt.Y(f"{column}:Q", title=MEASURES[column], scale=log, axis=alt.Axis(format="~g", tickCount=6))
    more: dict[str, Any] = {"detail": "run:N"} if "run" in along else {}
    base = alt.Chart(alt.Data(values=shown), width=300, height=230)
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=marks["color"], **more)
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, **marks, **more)
    bars = base.mark_rule(strokeWidth=1).encode(x=x, y="bottom:Q", y2="top:Q", color=marks["color"], **more)
    order = list(dict.fromkeys(row[panel] for row in rows))
    facet = alt.Facet(f"{panel}:N", title=None, sort=sorted(order, key=_place))
    return (
        alt.layer(bars, lines, points)
        .facet(facet=facet, columns=3 if len(order) in (3, 6) else 2)
        .resolve_axis(x="independent")
    )


def _place(panel: str) -> tuple[float, ...]:
    """Return the numbers in a panel's title, by which panels are ordered."""
    return tuple(float(word.rstrip(",")) for word in panel.split() if word.rstrip(",").replace(".", "").isdigit())


def _save(path: Path, chart: alt.TopLevelMixin, title: str) -> None:
    pictures.save(path, chart.properties(title=title))
