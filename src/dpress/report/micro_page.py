"""The page of a release of records: what was promised, what the records look like, and what they give away.

Data flow: release -> tables of its records -> figures, sentences -> template. Nothing else is read.
"""

import importlib.metadata
import itertools
import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpress import catalog
from dpress.core.attribute import Bounded, Tabular
from dpress.core.errors import NotSupported
from dpress.core.linear import Array
from dpress.data.toml import as_toml
from dpress.inference.interval import half_width
from dpress.kinds.microdata.answers import MicrodataRelease
from dpress.release.published_tables import CONFIDENCE
from dpress.release.record_files import NAME
from dpress.report import charts, figures, micro_words, tables, words
from dpress.report.figures import Figure
from dpress.report.render import rendered
from dpress.report.rounding import TIMES, loss, number
from dpress.report.said import promised
from dpress.report.tables import Table
from dpress.report.views import Axis, View

TEMPLATE = "micro.html.j2"
BARS, BINS = 40, 16  # cells of a number, in a figure of one and of two attributes
MOST_ATTRIBUTES, MOST_PAIRS = 16, 3
MOST_VALUES = 20  # bars of an attribute without order
FIRST = 8


def page(release: MicrodataRelease, queries: Sequence[str] = ()) -> str:
    """Return the report of records as HTML.

    Args:
        release: just published, or loaded.
        queries: none: nothing is drawn of them.

    Raises:
        NotSupported: the extra `[report]` is not installed, or there are queries.
    """
    if queries:
        raise NotSupported('only a map, kind = "spatial", draws queries; this is kind = "microdata": `dpress query`')
    return rendered(TEMPLATE, _context(release))


def _context(release: MicrodataRelease) -> dict[str, Any]:
    own, promise = words.said(release), words.guarantee(release)
    query = micro_words.example(release)
    return {
        "release": release,
        "said": own,
        "title": own.title,
        "stamp": words.stamp(release),
        "verdict": micro_words.verdict(release),
        "keys": _keys(release),
        "guarantee": promise,
        "odds": figures.odds_figure(promise.odds) if promise.odds else None,
        "first": _first(release),
        "ones": [(name, figure) for name, figure in _ones(release)] if release.table.num_rows else [],
        "hidden": max(0, len(release.schema.names) - MOST_ATTRIBUTES),
        "pairs": _pairs(release),
        "twos": _twos(release),
        "risk": micro_words.risk(release),
        "good": micro_words.good(release),
        "bad": micro_words.bad(release),
        "made": micro_words.made(release),
        "error": micro_words.error(release),
        "card": catalog.card(release.planned.chosen.method),
        "attributes": tables.attributes(release, own.fates),
        "charged": loss(release.charged),
        "command": f"dpress query FOLDER {shlex.quote(query)}",
        "answer": f"{number(release.query(query).value)} records",
        "toml": as_toml(release.spec),
        "version": importlib.metadata.version("dpress"),
    }


def _keys(release: MicrodataRelease) -> list[tuple[str, str, str]]:
    promise = promised(release)
    status = "proven" if release.claim.proven else "claimed, not proven" if promise else "this release is not private"
    order = "in the order of the rows" if release.aligned else "made up, in no order"
    return [
        ("Guarantee", loss(promise), status),
        ("Records", number(release.table.num_rows), order),
        ("Attributes", number(len(release.schema.names)), f"in {NAME}"),
        ("Budget charged", loss(release.charged), words.said(release).charged),
    ]


def _first(release: MicrodataRelease) -> Table:
    """Return the first records, as they are written."""
    shown = release.table.slice(0, FIRST).to_pylist()
    rows = tuple(tuple(_value(one) for one in record.values()) for record in shown)
    names = release.schema.names
    return Table(names=names, labels=len(names), rows=rows, note=f"The first {len(rows)} records of {NAME}.")


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _axis(attribute: Tabular, most: int) -> tuple[Axis, Any]:
    """Return an attribute as the edge of a figure, and the bin of every cell; categories are never put together."""
    if not isinstance(attribute, Bounded) or attribute.size <= most:
        bins = np.arange(attribute.size)
    else:
        bins = np.arange(attribute.size) // -(-attribute.size // most)
    starts = np.searchsorted(bins, np.arange(bins[-1] + 1)).tolist()
    labels = tuple(attribute.labels_between(start, start + 1)[0] for start in starts)
    if isinstance(attribute, Bounded):
        labels = tuple(f"{edge:.6g}" for edge in attribute.edges_at(np.array(starts)).tolist())
    ordered = len(starts) if attribute.ordered else 0
    return Axis(name=attribute.name, labels=labels, ticks=labels, ordered=ordered), bins


def _view(release: MicrodataRelease, axes: tuple[int, ...], most: int) -> View:
    """Return the counts of records over one or two attributes; of one with the noise of its own histogram."""
    found = [_axis(release.schema.tabular[axis], most) for axis in axes]
    shape = tuple(axis.size for axis, _ in found)
    places = tuple(bins[release.codes[axis]] for axis, (_, bins) in zip(axes, found, strict=True))
    count = np.bincount(np.ravel_multi_index(places, shape), minlength=math.prod(shape)).reshape(shape).astype(float)
    variance = micro_words.own_variance(release, axes[0]) if len(axes) == 1 else None
    widths = np.bincount(found[0][1]) if len(axes) == 1 else np.zeros(shape)
    spread = np.asarray((variance or 0.0) * widths, dtype=np.float64)
    half: Array = half_width(spread, CONFIDENCE, release.tail)
    return View(axes=tuple(axis for axis, _ in found), count=count, half=half, error=half, file=NAME, noun="records")


def _ones(release: MicrodataRelease) -> list[tuple[str, Figure]]:
    made = []
    for axis in range(min(len(release.schema.names), MOST_ATTRIBUTES)):
        view = _view(release, (axis,), BARS)
        note = micro_words.one_way(release, axis, view.axes[0].size)
        if not view.axes[0].ordered and view.axes[0].size > MOST_VALUES:
            view, note = (
                _largest(view),
                f"{note} Shown are the {MOST_VALUES} most frequent of {view.axes[0].size} values.",
            )
        drawing = figures.both(lambda width, view=view: charts.bars(view, width), f"Records by {view.name}")  # type: ignore[misc]
        made.append((view.name, Figure(drawing=drawing, caption=note)))
    return made


def _largest(view: View) -> View:
    best = np.argsort(-view.count, kind="stable")[:MOST_VALUES]
    labels = tuple(view.axes[0].labels[code] for code in best)
    count, half = view.count[best], view.half[best]
    return replace(view, axes=(replace(view.axes[0], labels=labels, ticks=labels),), count=count, half=half, error=half)


def _ranked(release: MicrodataRelease) -> list[tuple[float, tuple[int, ...], View]]:
    """Return all pairs by how far they are from independence, in total variation, the furthest first."""
    found = []
    for pair in itertools.combinations(range(len(release.schema.names)), 2):
        view = _view(release, pair, BINS)
        shares = view.count / max(view.count.sum(), 1.0)
        product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
        found.append((float(np.abs(shares - product).sum() / 2), pair, view))
    return sorted(found, key=lambda one: -one[0])


def _pairs(release: MicrodataRelease) -> Table | None:
    """Return how far the records' pairs are from independence."""
    ranked = _ranked(release)
    if not ranked:
        return None
    rows = tuple((view.name, f"{apart:.3f}") for apart, _, view in ranked[:10])
    note = (
        f"The {len(rows)} of {len(ranked)} pairs that are furthest from independence among the records: half the sum "
        "of absolute differences of shares, 0 to 1; numbers in at most 16 bins. What the rows have is not known here."
    )
    return Table(names=("pair", "from independence"), labels=1, rows=rows, note=note)


def _twos(release: MicrodataRelease) -> list[tuple[str, Figure]]:
    made = []
    drawable = [view for _, _, view in _ranked(release) if max(axis.size for axis in view.axes) <= figures.MOST_ROWS]
    for whole in drawable[:MOST_PAIRS]:
        view = whole.transposed((0, 1) if whole.axes[0].size <= whole.axes[1].size else (1, 0))
        top = max(1.0, float(view.count.max()))
        drawing = figures.both(
            lambda width, view=view, top=top: charts.heat(view, width, top=top),  # type: ignore[misc]
            f"Records by {view.name}",
        )
        shades = tuple((charts.shade(top * step**2, top), number(top * step**2)) for step in (0.25, 0.5, 0.75, 1.0))
        figure = Figure(drawing=drawing, caption=micro_words.TWO, shades=shades)
        made.append((view.name.replace(TIMES, " and "), figure))
    return made
