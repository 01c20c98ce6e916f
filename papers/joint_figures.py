"""The figures of the document on joint distributions: time by f, error by f and by penalty, and sizes of reports."""

from collections.abc import Sequence
from pathlib import Path

import altair as alt
from joint_claims import FORMS
from joint_methods import MEANT, NO_RULE
from pictures import averaged, marks, save
from quantities import Row, Tables

NAMES = {
    "em": "em (published)",
    "lasso": "lasso (published)",
    "lremh": "lremh (published)",
    "uniform": "uniform table",
    "product": "product of one-way tables",
    "early": "likelihood, stopped early",
    "one": "one oracle on the joint",
    "pairs": "pairs",
    "triples": "triples",
}
SHADES = ("#b91c1c", "#d97706", "#a16207", "#9ca3af", "#475569", "#0e7490", "#4d7c0f", "#1d4ed8", "#7c3aed")
COLOURS = dict(zip(NAMES.values(), SHADES, strict=True))
PEOPLE = {"all": "everybody", "sample": "the document's sample"}
DATA = {"nltcs": "NLTCS", "adult": "Adult"}


def draw(folder: Path, tables: Tables) -> None:
    """Write every figure as SVG and PNG."""
    errors = [row for row in tables["errors"] if row["rule"] in {MEANT, NO_RULE}]
    devices = list(dict.fromkeys(row["device"] for row in errors))
    for device, name in zip(devices, ("both_responses", "permanent_only"), strict=False):
        sampled = [row for row in errors if row["who"] == "sample" and row["device"] == device]
        save(folder / f"error_{name}", _errors(sampled, f"{PEOPLE['sample']}, {device}"))
    whole = [row for row in errors if row["who"] == "all"]
    save(folder / "error_all", _errors(whole, f"{PEOPLE['all']}, {devices[0]}"))
    seconds = [*tables["times"], *tables["times_of_dpress"]]
    save(folder / "time", _times([row for row in seconds if row["device"] == devices[0]]))
    save(folder / "penalty", _penalties(tables["penalties"]))
    save(folder / "report_sizes", _sizes(tables["report_sizes"]))


def _means(rows: Sequence[Row], by: Sequence[str], column: str) -> list[Row]:
    """Return the mean of a column over the runs of every setting, one standard error to either side."""
    return [
        row | {"mean": row[column], "bottom": row[column] - row["standard_error"], "name": NAMES[row["method"]]}
        for row in averaged(rows, column, by)
    ]


def _lines(values: Sequence[Row], x: alt.X, y: alt.Y, *, size: tuple[int, int] = (250, 190)) -> alt.LayerChart:
    """Return lines with points, and a bar of one standard error to either side."""
    base, own = alt.Chart(alt.Data(values=list(values)), width=size[0], height=size[1]), marks(COLOURS, _names(values))
    bars = base.mark_rule(opacity=0.6).encode(x=x, y=alt.Y("bottom:Q"), y2="top:Q", color=own["color"])
    lines = base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=own["color"])
    return alt.layer(bars, lines, base.mark_point(filled=True, size=40).encode(x=x, y=y, **own))


def _names(values: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["name"] for row in values))


def _errors(rows: Sequence[Row], where: str) -> alt.TopLevelMixin:
    """Return error by f, a panel for every data set and number of attributes."""
    by = ("data", "k", "cells", "f", "method")
    values = sorted(_means(rows, by, "avd"), key=lambda row: (row["data"], row["k"]))
    values = [row | {"rate": float(row["f"]), "panel": _panel(row)} for row in values]
    order = list(dict.fromkeys(row["panel"] for row in values))
    x = alt.X("rate:Q", title="f of the permanent response", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("mean:Q", title="AVD (half the L1 distance)", scale=alt.Scale(domain=[0, 1]))
    chart = _lines(values, x, y).facet(facet=alt.Facet("panel:N", title=None, sort=order), columns=4)
    return chart.resolve_axis(x="independent").properties(
        title=f"Error by f at the same epsilon a report: {where}; bars are standard errors of the mean"
    )


def _panel(row: Row) -> str:
    return f"{DATA[row['data']]}, k = {row['k']}, {row['cells']:,} cells"


def _times(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Return seconds by f, a row for every data set and k, a column for every form; both axes' panels are shared."""
    shown = (FORMS[1], FORMS[3], "dpress")
    chosen = [row for row in rows if row["form"] in shown and row["k"] in {2, 4, 5} and row["seconds"]]
    values = sorted(_means(chosen, ("data", "k", "f", "form", "method"), "seconds"), key=lambda row: row["data"])
    place = [row | {"rate": float(row["f"]), "panel": f"{DATA[row['data']]}, k = {row['k']}"} for row in values]
    least = min(row["mean"] for row in place)
    place = [row | {"bottom": max(row["bottom"], least / 2)} for row in place]  # of a logarithmic axis
    x = alt.X("rate:Q", title="f of the permanent response", scale=alt.Scale(domain=[0, 1]))
    ticks = alt.Axis(format="~g", tickCount=5)
    y = alt.Y("mean:Q", title="seconds", scale=alt.Scale(type="log", nice=False), axis=ticks)
    chart = _lines(place, x, y, size=(240, 130)).facet(
        row=alt.Row("panel:N", title=None), column=alt.Column("form:N", title=None, sort=list(shown))
    )
    return chart.properties(
        title="Time by f, the document's sample, p = 1/2, q = 3/4: loops as published (timed on few reports, "
        "scaled), and dpress's"
    )


def _penalties(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Return error by LASSO's penalty, a panel for every setting."""
    order = ("device", "data", "f")
    values = _means(rows, ("data", "f", "device", "scale", "method"), "avd")
    values = sorted(values, key=lambda row: tuple(row[name] for name in order))
    values = [row | {"panel": f"{DATA[row['data']]}, f = {row['f']}, {row['device']}"} for row in values]
    panels = list(dict.fromkeys(row["panel"] for row in values))
    x = alt.X("scale:Q", title="multiple of dpress's penalty", scale=alt.Scale(type="log", base=2))
    y = alt.Y("mean:Q", title="AVD (half the L1 distance)", scale=alt.Scale(zero=True))
    chart = _lines(values, x, y, size=(200, 140)).facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=3)
    return chart.resolve_axis(x="independent").properties(
        title="Error by LASSO's penalty, which the document does not state: the document's sample, NLTCS k = 4, Adult "
        "k = 3"
    )


def _sizes(rows: Sequence[Row]) -> alt.TopLevelMixin:
    """Return bits of a report by the number of attributes."""
    values = [{"panel": DATA[row["data"]], "k": row["k"], "bits": row["bits"], "name": _report(row)} for row in rows]
    x = alt.X("k:Q", title="attributes", axis=alt.Axis(format="d"))
    y = alt.Y("bits:Q", title="bits a report", scale=alt.Scale(type="log"))
    own = marks(dict(zip(_names(values), SHADES, strict=False)), _names(values))
    base = alt.Chart(alt.Data(values=values), width=330, height=220)
    points = base.mark_point(filled=True, size=40).encode(x=x, y=y, **own)
    chart = alt.layer(base.mark_line(strokeWidth=1.5, point=False).encode(x=x, y=y, color=own["color"]), points)
    return chart.facet(facet=alt.Facet("panel:N", title=None), columns=2).properties(title="Size of a report")


def _report(row: Row) -> str:
    return "rr_ldp: one-hot strings" if row["method"] == "rr_ldp" else f"rappor: filters of {row['filter']}"
