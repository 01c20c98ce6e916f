"""Records from tables that are already public: post-processing with secure random words.

weights of one attribute's cells -> as many codes as asked for, each cell's number rounded up or down -> shuffled.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts
from dpress.core.methods.possible import EVERYTHING, Combinations, Possible, with_margins

PASSES, SCALED = 20, 1 << 23
"""In which what constraints join is scaled, at most, and cells of all clusters together that are scaled."""


def shuffled(size: int, *, rng: Generator) -> Counts:
    """Return a uniform permutation of `size` places, by sorting as many random words."""
    return np.asarray(np.argsort(rng.words(size)), dtype=np.int64)


def drawn(weights: Array, size: int, *, rng: Generator) -> Codes:
    """Return codes in random order, each as often as its share of the weights says, rounded up or down.

    Systematic sampling: every code is expected exactly its share, and no sampling error is added that can be avoided.

    Args:
        weights: >= 0, shape (cells,); all 0 for even ones.
        size: the number of codes.
        rng: a secure generator.
    """
    ends = np.cumsum(weights if weights.sum() > 0 else np.ones_like(weights))
    start = float(rng.words(1)[0]) * 2.0**-64
    places = (np.arange(size) + start) * (ends[-1] / max(size, 1))
    codes = np.minimum(np.searchsorted(ends, places, side="right"), np.flatnonzero(np.diff(ends, prepend=0)).max())
    return np.asarray(codes[shuffled(size, rng=rng)], dtype=np.int32)


def mixture(tables: Sequence[Array], sizes: Counts, *, rng: Generator, possible: Possible = EVERYTHING) -> Codes:
    """Return records: in every cluster each attribute on its own, from the cluster's histogram; in random order.

    Attributes that constraints join are drawn together, from the product of their histograms without what is
    impossible, scaled to have their sums again as far as it can: they are independent but for that.

    Args:
        tables: for every attribute the histogram of each cluster, shape (clusters, cells).
        sizes: records of every cluster, shape (clusters,).
        rng: a secure generator.
        possible: which records may be made.
    """
    out = np.empty((len(tables), int(sizes.sum())), dtype=np.int32)
    ends = np.cumsum(sizes)
    alone = [axis for axis in range(len(tables)) if all(axis not in part.axes for part in possible.parts)]
    listed = [part for part in possible.parts if not part.leaves]
    for cluster, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        for axis in alone:
            out[axis, end - size : end] = drawn(tables[axis][cluster], int(size), rng=rng)
        for part in listed if size else ():
            margins = [tables[axis][cluster] for axis in part.axes]
            passes = min(max(SCALED // (part.allowed.size * sizes.size), 1), PASSES)
            table = with_margins(part.weighted(margins), margins, passes=passes)
            cells = np.unravel_index(drawn(table.ravel(), int(size), rng=rng), table.shape)
            out[list(part.axes), end - size : end] = cells
    for part in possible.parts:
        if part.leaves:
            from dpress.mechanisms.microdata.star_sampling import star_records  # noqa: PLC0415  # few have any

            clusters = np.repeat(np.arange(sizes.size), sizes)
            out[list(part.axes)] = star_records(part, [tables[axis] for axis in part.axes], clusters, rng=rng)
    return out[:, shuffled(out.shape[1], rng=rng)]


def draw_again(
    part: Combinations, codes: Codes, clusters: Counts, weights: Callable[[int, int], Array], *, rng: Generator
) -> None:
    """Draw the cells of some attributes of impossible records again, in place, all of them together.

    Of what is possible in a record's cluster each combination is drawn with the product of its cells' weights. What is
    drawn from a product of weights and again where it is impossible has that product given that it is possible.

    Args:
        part: the combinations of the attributes' cells that may occur.
        codes: the records, shape (attributes, records).
        clusters: of every record, shape (records,).
        weights: returns the weights of an attribute's cells, given a cluster and the attribute.
        rng: a secure generator.
    """
    wrong = np.flatnonzero(~part.holds(codes))
    order = wrong[np.argsort(clusters[wrong], kind="stable")]
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    for places in np.split(order, starts[1:]):
        if places.size:
            cluster = int(clusters[places[0]])
            table = part.weighted([weights(cluster, axis) for axis in part.axes])
            cells = np.unravel_index(drawn(table.ravel(), places.size, rng=rng), table.shape)
            for axis, along in zip(part.axes, cells, strict=True):
                codes[axis, places] = along


def representative(prototypes: Codes, sizes: Counts, *, rng: Generator) -> Codes:
    """Return every prototype as often as its cluster is large, in random order.

    Args:
        prototypes: shape (attributes, clusters).
        sizes: shape (clusters,).
        rng: a secure generator.
    """
    out: npt.NDArray[np.int32] = np.repeat(prototypes, sizes, axis=1)
    return out[:, shuffled(out.shape[1], rng=rng)]
