"""Records as counts to draw: of one attribute with the noise of its own histogram, of two, and how far they depend.

codes of records -> views, pairs by their distance from independence.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Places
from dpress.core.methods.people import Codes
from dpress.inference.interval import Tail, half_width
from dpress.query.published_tables import CONFIDENCE
from dpress.query.record_files import NAME
from dpress.reporting.views import Axis, View

BARS, BINS = 40, 16  # cells of a number, in a figure of one and of two attributes


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """Two attributes of records.

    Args:
        view: their counts, numbers in bins.
        distance: from independence, in total variation, 0 to 1.
    """

    view: View
    distance: float


def attribute_view(attribute: Tabular, codes: Codes, variance: float | None, tail: Tail) -> View:
    """Return the counts of records over one attribute, with the noise of its own noisy histogram.

    Args:
        attribute: whose cells they are.
        codes: the cell of every record.
        variance: of a cell of that histogram; None where none was measured.
        tail: the kind of noise.
    """
    axis, bins = _axis(attribute, BARS)
    spread = np.asarray((variance or 0.0) * np.bincount(bins), dtype=np.float64)
    return _view((axis,), (bins[codes],), half_width(spread, CONFIDENCE, tail))


def ranked(attributes: tuple[Tabular, ...], codes: Codes) -> list[PairView]:
    """Return all pairs of attributes, the furthest from independence first."""
    pairs = []
    for pair in itertools.combinations(range(len(attributes)), 2):
        axes, bins = zip(*(_axis(attributes[axis], BINS) for axis in pair), strict=True)
        places = tuple(bin_of[codes[axis]] for axis, bin_of in zip(pair, bins, strict=True))
        view = _view(axes, places, np.zeros(tuple(axis.size for axis in axes)))
        shares = view.count / max(view.count.sum(), 1.0)
        product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
        pairs.append(PairView(view=view, distance=float(np.abs(shares - product).sum() / 2)))
    return sorted(pairs, key=lambda pair: -pair.distance)


def _view(axes: tuple[Axis, ...], places: tuple[Places, ...], half: Array) -> View:
    shape = tuple(axis.size for axis in axes)
    flat = np.bincount(np.ravel_multi_index(places, shape), minlength=math.prod(shape))
    count = flat.reshape(shape).astype(float)
    return View(axes=axes, count=count, half=half, error=half, file=NAME, noun="records")


def _axis(attribute: Tabular, most: int) -> tuple[Axis, Places]:
    """Return an attribute as the edge of a figure, and the bin of every cell; categories are never put together."""
    if attribute.scale is None or attribute.size <= most:
        bins = np.arange(attribute.size)
    else:
        bins = np.arange(attribute.size) // -(-attribute.size // most)
    starts = np.searchsorted(bins, np.arange(bins[-1] + 1)).tolist()
    labels = tuple(attribute.ticks_between(start, start + 1)[0] for start in starts)
    ordered = len(starts) if attribute.ordered else 0
    return Axis(name=attribute.name, labels=labels, ticks=labels, ordered=ordered, title=attribute.caption), bins
