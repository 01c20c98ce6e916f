"""A heat map of many cells, drawn small: one path for every shade, cells that may be empty left out.

view -> cells clearly above zero, by shade -> inline SVG for wide and for narrow screens.
"""

import html
from collections.abc import Iterator

import numpy as np

from dpress.core.basics.visible import visible
from dpress.reporting import charts
from dpress.reporting.views import Axis, View

MOST = 128  # cells along an axis
SHADES = 24
TOP, BOTTOM, RIGHT = 4.0, 40.0, 14.0
LINE = 14.0  # height of a label, in pixels


def fits(view: View) -> bool:
    """Return whether a view is drawn so: two attributes of at most 128 cells each."""
    return len(view.axes) == 2 and max(axis.size for axis in view.axes) <= MOST


def drawing(view: View, label: str, *, top: float, wide: float, narrow: float) -> str:
    """Return two SVG elements, safe to insert as they are.

    Args:
        view: of two attributes, rows and columns.
        label: what a screen reader reads.
        top: the count of the strongest shade.
        wide: the width of the one for wide screens, in pixels.
        narrow: of the other.
    """
    return "".join(_svg(view, label, top, kind, width) for kind, width in (("wide", wide), ("narrow", narrow)))


def _svg(view: View, label: str, top: float, kind: str, width: float) -> str:
    rows, columns = view.axes
    left = charts.margin(rows)
    across, up = (width - left - RIGHT) / columns.size, max(4.0, min(12.0, 480.0 / rows.size))
    height = TOP + up * rows.size + BOTTOM
    paths = "".join(
        f'<path d="{cells}" stroke="{charts.MARK}" stroke-opacity="{shade:.2f}"/>' for shade, cells in _paths(view, top)
    )
    place = f'transform="translate({left:.1f} {TOP:g}) scale({across:.4f} {up:.4f})"'
    words = [
        *_labels(rows, up, left, upright=False),
        *_labels(columns, across, left, upright=True, below=height - BOTTOM),
    ]
    title = _text(left + (width - left - RIGHT) / 2, height - 8, columns.caption, "middle", charts.INK)
    spoken = html.escape(visible(label))
    head = f'<svg class="chart {kind}" role="img" aria-label="{spoken}" viewBox="0 0 {width:g} {height:g}"'
    return f'{head} width="{width:g}" height="{height:g}"><g {place}>{paths}</g>{"".join(words)}{title}</svg>'


def _paths(view: View, top: float) -> Iterator[tuple[float, str]]:
    """Yield every shade with its cells, as lines as high as a cell is."""
    clear = (view.low > 0) & ~view.hidden
    shades = np.ceil(SHADES * np.sqrt(np.clip(view.count, 0, top) / top)).astype(int)
    for step in range(1, SHADES + 1):
        places = np.argwhere(clear & (shades == step)).tolist()
        if places:
            cells = "".join(f"M{column} {row}.5h1" for row, column in places)
            yield charts.shade(top * (step / SHADES) ** 2, top), cells


def _labels(axis: Axis, step: float, left: float, *, upright: bool, below: float = 0.0) -> Iterator[str]:
    """Yield as many labels as fit, none over another."""
    room = max(map(len, axis.ticks)) * charts.LETTER + 8 if upright else LINE
    for code in range(0, axis.size, max(1, int(-(-room // step)))):
        middle = (code + 0.5) * step
        if upright:
            yield _text(left + middle, below + LINE, axis.ticks[code], "middle", charts.MUTED)
        else:
            yield _text(left - 6, TOP + middle + 4, axis.ticks[code], "end", charts.MUTED)


def _text(x: float, y: float, words: str, anchor: str, colour: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="11" fill="{colour}">{html.escape(visible(words))}</text>'
