"""Altair charts as inline SVG: colours are CSS variables, so that one drawing serves light, dark and print."""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np

from dpress.core.basics.visible import visible
from dpress.core.maps.linear import Array
from dpress.reporting.optional import load
from dpress.reporting.rounding import number
from dpress.reporting.short_labels import LONGEST_LABEL, short_labels
from dpress.reporting.views import Axis, View

Chart = Any  # an altair chart

INK, MUTED, GRID, MARK, SOFT, ON_MARK = "#1b1f24", "#5b6471", "#e2e6eb", "#2a64a8", "#a9b4c2", "#fefefe"
LESS = "#b4560f"
VARIABLES = {INK: "ink", MUTED: "muted", GRID: "grid", MARK: "mark", SOFT: "soft", ON_MARK: "on-mark", LESS: "less"}
FONT = "system-ui, sans-serif"
LETTER = 6.6  # mean width of a letter at 11 px
APART = 75.0  # pixels for each number that an axis names
UPRIGHT = 64.0  # labels up to this width stay horizontal
CLIP = re.compile(r'(?<=id=")clip\d+(?=")|(?<=url\(#)clip\d+(?=\))')
TAG = re.compile(r"<[^>]*>")
NOTHING = re.compile(r'^<path[^>]*(?: display="none"| d="M0,0h0v0h0Z")')
IDLE = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|font-family|stroke-miterlimit)="[^"]*"'
    r'| opacity="1"| transform="translate\(0,0\)"'
)
DIGITS = re.compile(r"(\d\.\d\d)\d+")
JOINER = "\N{WORD JOINER}"
OF_EVERY_OBJECT = {
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
}  # fmt: skip


def svg(chart: Chart, label: str, kind: str) -> str:
    """Return a chart as an SVG element of the class `kind` that a screen reader reads as `label`."""
    drawn = _drawable(_configured(chart).to_dict(validate=False))
    text: str = load("vl_convert").vegalite_to_svg(drawn, allowed_base_urls=[])
    text = _same_clips(TAG.sub(lambda tag: _lean(tag[0]), text)).replace(JOINER, "")
    match = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"[^>]*>', text)
    if match is None:
        raise RuntimeError("vl-convert returned no SVG with a size")
    head = load("markupsafe").Markup(
        '<svg class="chart {}" role="img" aria-label="{}" viewBox="0 0 {} {}" width="{}" height="{}">'
    )
    return f"{head.format(kind, visible(label), *match.groups(), *match.groups())}{text[match.end() :]}"


def _same_clips(text: str) -> str:
    """Return a drawing with other names of its clips, which vl-convert counts through a process.

    By what is drawn: the same bytes every time, and names that no other drawing of a page has.
    """
    places = {name: place for place, name in enumerate(dict.fromkeys(CLIP.findall(text)))}
    if not places:
        return text
    plain = CLIP.sub(lambda name: f"clip{places[name[0]]}", text)
    return CLIP.sub(lambda name: f"clip-{crc32(plain.encode()):08x}-{places[name[0]]}", text)


def _drawable(plain: Any) -> Any:
    """Return a chart as plain data whose texts can all be drawn.

    A control character ends the whole process; a title that is called as what every object of JavaScript has is looked
    up there: such a text gets a character that is not seen, which `svg` takes away.
    """
    if isinstance(plain, dict):
        return {name: _drawable(value) for name, value in plain.items()}
    if isinstance(plain, list):
        return [_drawable(value) for value in plain]
    if not isinstance(plain, str):
        return plain
    return plain + JOINER if plain in OF_EVERY_OBJECT else visible(plain)


def _lean(tag: str) -> str:
    """Return a tag without what a picture does not need: half the size."""
    if NOTHING.search(tag):
        return ""
    return DIGITS.sub(r"\1", IDLE.sub("", tag))


def colours() -> str:
    """Return the style rules that give every colour of a chart its value in light, dark and print."""
    kinds = ("fill", "stroke")
    rules = [
        f'.chart [{kind}="{colour}"] {{ {kind}: var(--{name}); }}'
        for colour, name in VARIABLES.items()
        for kind in kinds
    ]
    return "\n".join(rules)


def _configured(chart: Chart) -> Chart:
    axis = {"labelColor": MUTED, "titleColor": INK, "gridColor": GRID, "domainColor": SOFT, "tickColor": SOFT}
    text = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500, "labelFont": FONT, "titleFont": FONT}
    padding = {"left": 12, "right": 14, "top": 4, "bottom": 4}
    return chart.configure(
        background="transparent", font=FONT, padding=padding, axis={**axis, **text, "aria": False}, aria=False
    ).configure_view(stroke=None)


def data(records: list[dict[str, Any]]) -> Any:
    """Return records as a chart's data."""
    return load("altair").Data(values=records)


def _records(view: View) -> list[dict[str, Any]]:
    names = ["x", "y"][: len(view.axes)]
    (low, high), shown, hidden = drawn_ends(view), view.shown, view.hidden
    rows = []
    for cell in itertools.product(*(range(axis.size) for axis in view.axes)):
        place = dict(zip(names, cell, strict=True))
        if not hidden[cell]:
            rows.append(place | {"n": float(shown[cell]), "low": float(low[cell]), "high": float(high[cell])})
    return rows


def drawn_ends(view: View) -> tuple[Array, Array]:
    """Return the ends of the intervals; a count of which nothing is known gets no whisker, a hidden one is at zero."""
    finite, hidden, shown = np.isfinite(view.error), view.hidden, view.shown
    low, high = view.display.outward((np.where(finite, view.low, shown), np.where(finite, view.high, shown)))
    return np.where(hidden, 0.0, low), np.where(hidden, 0.0, high)


def cell_axis(axis: Axis, length: float, *, upright: bool, title: str | None) -> Any:
    """Return the chart axis that names an attribute's cells: as many labels as fit, none over another."""
    alt = load("altair")
    longest = _longest(axis) * LETTER
    step = length / axis.size
    flat = longest <= step or (axis.ordered > 0 and longest <= UPRIGHT)
    room = longest + 12 if upright and flat and longest > step - 6 else 14.0
    every = max(1, math.ceil(room / step))
    shown = [code for code in range(axis.size) if code % every == 0 or (code >= axis.ordered > 0)]
    angle = -40 if upright and not flat else 0
    return alt.Axis(
        values=shown, title=title, labelExpr=label_of(labels(axis.ticks)), labelAngle=angle, labelLimit=0,
        labelOverlap=False, grid=False, ticks=False, domain=False, labelPadding=5,
        labelAlign="right" if angle else alt.Undefined, minExtent=0 if upright else margin(axis) - 24,
    )  # fmt: skip


def labels(texts: Sequence[str], longest: int = LONGEST_LABEL) -> Any:
    """Return the labels of an axis as a parameter of a chart, by code: data, which no expression is made of.

    The same labels are the same parameter, which a chart takes by `add_params`.
    """
    return load("altair").param(value=short_labels(texts, longest))


def label_of(parameter: Any) -> str:
    """Return the Vega expression that turns an axis' code into its label."""
    return f"{parameter.name}[datum.value]"


def bars(view: View, width: float, *, ends: tuple[float, float] | None = None, title: str | None = None) -> Chart:
    """Return a bar for every cell of one axis, upright if it has an order, with whiskers for the intervals."""
    axis = view.axes[0]
    upright = axis.ordered > 0
    length = width - 60 if upright else max(40.0, 26.0 * axis.size)
    names = cell_axis(axis, length, upright=upright, title=axis.caption if upright else None)
    alt = load("altair")
    drawn = drawn_ends(view)
    low, high = ends or (drawn[0].min(), drawn[1].max())
    scale = alt.Scale(domain=[min(0.0, float(low)), max(1.0, float(high))], nice=False)
    size = {"width": width - 60, "height": 190} if upright else {"width": width - margin(axis), "height": length}
    counts = value_axis(view.noun, size["height" if upright else "width"], upright=upright)
    cells = alt.X if upright else alt.Y
    values, values2 = (alt.Y, alt.Y2) if upright else (alt.X, alt.X2)
    base, codes = alt.Chart(data(_records(view))), list(range(axis.size))
    place = cells("x:O", axis=names, scale=alt.Scale(domain=codes, paddingInner=0.15, paddingOuter=0.1))
    bar = base.mark_bar(color=MARK, opacity=0.75).encode(place, values("n:Q", scale=scale, axis=counts))
    whisker = base.mark_rule(color=INK, strokeWidth=1.2).encode(place, values("low:Q"), values2("high:Q"))
    return (bar + whisker).add_params(labels(axis.ticks)).properties(**size, **titled(title))


def value_axis(title: str | None, length: float, *, upright: bool = False) -> Any:
    """Return an axis of numbers, of which as many are named as stand apart on so many pixels."""
    count = 5 if upright else max(2, min(5, int(length // APART)))
    return load("altair").Axis(
        title=title, tickCount=count, format=",.6~g", ticks=False, domain=False, labelPadding=5, labelSeparation=8,
        labelOverlap="greedy", minExtent=44 if upright else 0,
    )  # fmt: skip


def heat(view: View, width: float, *, top: float, title: str | None = None) -> Chart:
    """Return a cell for every pair: the shade is the square root of the count, a dot says that it may be zero."""
    rows, columns = view.axes
    width -= margin(rows)
    step = min(30.0, max(7.0, 420.0 / rows.size))
    height = step * rows.size
    alt = load("altair")
    y_axis = cell_axis(rows, height, upright=False, title=None)
    x_axis = cell_axis(columns, width, upright=True, title=columns.caption)
    y = alt.Y("x:O", axis=y_axis, scale=alt.Scale(domain=list(range(rows.size)), padding=0.04))
    x = alt.X("y:O", axis=x_axis, scale=alt.Scale(domain=list(range(columns.size)), padding=0.04))
    base = alt.Chart(data(_shaded(view, top))).encode(y, x)
    opacity = alt.Opacity("shade:Q", scale=None)
    cells = base.mark_rect(color=MARK).encode(opacity=opacity).transform_filter("datum.low > 0")
    dots = base.mark_point(
        shape="circle", filled=False, color=MUTED, strokeWidth=1, size=min(12.0, step)
    ).transform_filter("datum.low <= 0")
    layers = [cells, dots]
    if width / columns.size >= 7 * max(len(number(float(view.count.max()))), 3) and step >= 16:
        ink = alt.condition("datum.shade > 0.55", alt.value(ON_MARK), alt.value(INK))
        layers.append(base.mark_text(fontSize=10.5).encode(text="text:N", color=ink).transform_filter("datum.low > 0"))
    drawn = alt.layer(*layers).add_params(labels(rows.ticks), labels(columns.ticks))
    return drawn.properties(width=width, height=height, **titled(title))


def _shaded(view: View, top: float) -> list[dict[str, Any]]:
    return [record | {"shade": shade(record["n"], top), "text": number(record["n"])} for record in _records(view)]


def shade(count: float, top: float) -> float:
    """Return the opacity of a cell of a heat map whose largest count is `top`."""
    return 0.08 + 0.92 * math.sqrt(max(count, 0.0) / top)


def margin(axis: Axis) -> float:
    """Return the room that the labels left of a chart take, with its padding."""
    return _longest(axis) * LETTER + 32


def _longest(axis: Axis) -> int:
    return max(map(len, short_labels(axis.ticks)))


def titled(text: str | None, *, frame: str = "bounds") -> dict[str, Any]:
    """Return the title above a chart, as its properties; it begins where the chart, or its plot ("group"), begins."""
    if text is None:
        return {}
    style = {
        "anchor": "start",
        "color": INK,
        "fontSize": 12,
        "fontWeight": 600,
        "font": FONT,
        "offset": 6,
        "frame": frame,
    }
    return {"title": load("altair").TitleParams(text=[text], **style)}


def stacked(charts: list[Chart]) -> Chart:
    """Return charts one below the other."""
    return load("altair").vconcat(*charts, spacing=14) if len(charts) > 1 else charts[0]
