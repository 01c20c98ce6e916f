"""How all documents' pictures look, and how a chart becomes a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import vl_convert as vlc
from quantities import Row, settings

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "triangle-right")
"""Of filled points: all have an area, which a line has not."""


def save(path: Path, chart: alt.TopLevelMixin) -> None:
    """Write a chart as SVG and PNG."""
    chart = chart.configure_view(stroke=None).configure(font=FONT)
    chart = chart.configure_axis(labelFontSize=12, titleFontSize=13, gridColor="#e5e7eb", titleFontWeight="normal")
    chart = chart.configure_legend(labelFontSize=12, titleFontSize=12, symbolSize=90, labelLimit=300)
    chart = chart.configure_title(fontSize=14, anchor="start").configure_header(labelFontSize=13, title=None)
    text = chart.to_json()
    path.with_suffix(".svg").write_text(vlc.vegalite_to_svg(text), encoding="utf-8")
    path.with_suffix(".png").write_bytes(vlc.vegalite_to_png(text, scale=2))


def marks(colours: Mapping[str, str], used: Sequence[str], field: str = "name") -> dict[str, Any]:
    """Return colour and shape of methods, one legend for both, the same in all figures of a document.

    Args:
        colours: of every name that occurs in any figure, in the order of the legend.
        used: the names of this figure.
        field: that has the names.
    """
    names, legend = list(colours), alt.Legend(title=None, orient="right")
    domain = [name for name in names if name in set(used)]
    scale = alt.Scale(domain=domain, range=[colours[name] for name in domain])
    shapes = alt.Scale(domain=domain, range=[SHAPES[names.index(name) % len(SHAPES)] for name in domain])
    shape = alt.Shape(f"{field}:N", scale=shapes, legend=legend)
    return {"color": alt.Color(f"{field}:N", scale=scale, legend=legend), "shape": shape}


def averaged(rows: Sequence[Row], column: str, by: Sequence[str]) -> list[Row]:
    """Return a row for every setting: the mean of a column over its runs, its standard error, one to either side.

    The lower end is at least half the mean, so that a logarithmic axis has it.
    """
    out = []
    for key, own in settings(rows, by).items():
        values = np.array([row[column] for row in own], dtype=np.float64)
        mean = float(values.mean())
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        ends = {"bottom": max(mean - error, mean / 2), "top": mean + error}
        out.append(dict(zip(by, key, strict=True)) | {column: mean, "standard_error": error, "runs": len(own)} | ends)
    return out
