"""Adult as the document on microdata takes it, every release of it, the controls, and the measures of a release.

A measure is `aligned` (row i against record i) or `matched` (by the assignment of least total distance, a lower bound
of what any order could show); figures of one are never compared with figures of the other.
"""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow.compute as pc

import data
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import Column, columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.claim import ROW
from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts, in_memory
from dpress.kinds.microdata.linkage import SAME, linked, nearest
from dpress.mechanisms.microdata.cluster_queries import binned
from dpress.mechanisms.microdata.documents import group_records as grouped_noise
from dpress.mechanisms.microdata.documents.dp_k_prototypes import DpKPrototypes
from dpress.mechanisms.microdata.documents.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.documents.mdav import grouped
from dpress.mechanisms.microdata.documents.per_record import PerRecord
from dpress.mechanisms.microdata.dp_prototypes import Rows, dp_prototypes
from dpress.mechanisms.microdata.graphical import graphical
from dpress.mechanisms.microdata.prototypes import Labels
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.response import truth_probability

BOUNDS = {"age": (17, 90), "hours_per_week": (1, 99)}
LISTED = ("workclass", "education", "marital_status", "occupation", "race", "native_country")
RESTARTS = 4  # m, which the document does not state
MATCHED = 500  # rows, and records, both at random, that are matched by assignment
BINS = 16  # of a number, in tables of two attributes
Columns = tuple[Column, ...]


@functools.cache
def adult(d: int) -> tuple[Codes, Columns]:
    """Return the complete records of the train part and their first d columns.

    Categories are those of the hierarchy files, bounds are fixed: none is read off the records.
    """
    names = [*BOUNDS, *LISTED]
    table = data.table("adult", [*names, "split"])
    table = table.filter(pc.equal(table["split"], "train")).drop_null()
    attributes: list[Integer | Categorical] = [Integer(name=name, bounds=bounds) for name, bounds in BOUNDS.items()]
    codes = [table[name].to_numpy() - low for name, (low, _) in BOUNDS.items()]
    for name in LISTED[: d - len(BOUNDS)]:
        tree = data.hierarchy(name)
        values = tuple(sorted(row[0] for row in tree))
        attributes.append(Categorical(name=name, values=values, hierarchy=tree))
        codes.append(np.searchsorted(np.array(values), table[name].to_numpy().astype(str)))
    return np.stack(codes).astype(np.int32), columns(attributes)


def clustered(d: int, k: int, source: rng.Generator) -> Labels:
    """Return the cluster of every row, from the document's random starts; private to nobody."""
    codes, kinds = adult(d)
    made = DpKPrototypes(
        columns=kinds, loss=PureDP(epsilon=1), clusters=k, restarts=RESTARTS, starts="random"
    )  # its loss plays no part in the clusters
    return made.groups(in_memory(codes), codes, rng=source)


@functools.cache
def grouped_by_mdav(d: int, size: int) -> Labels:
    """Return MDAV's groups of a size: the slow part of it, and the same every time."""
    codes, kinds = adult(d)
    return grouped(kinds, codes, size)


def around(d: int, groups: Labels, epsilon: str, source: rng.Generator) -> Codes:
    """Return the document's noisy record of every row around its group."""
    codes, kinds = adult(d)
    return grouped_noise.records(kinds, codes, groups, epsilon=Fraction(epsilon), rng=source)


Release = Callable[[int, int, str, rng.Generator], Codes]
"""From the number of attributes, k (0 for what the plan chooses), epsilon and random words to records."""


def _per_record(d: int, epsilon: Fraction, source: rng.Generator) -> Codes:
    codes, kinds = adult(d)
    return PerRecord(columns=kinds, loss=PureDP(epsilon=epsilon), users=codes.shape[1]).perturbed(codes, rng=source)


def _insensitive(d: int, k: int, epsilon: str, source: rng.Generator) -> Codes:
    codes, kinds = adult(d)
    loss, users = PureDP(epsilon=epsilon), codes.shape[1]
    return InsensitiveMicroaggregation(columns=kinds, loss=loss, users=users, group=k).aggregated(codes, rng=source)


def _dp_prototypes(rows: Rows) -> Release:
    def own(d: int, k: int, epsilon: str, source: rng.Generator) -> Codes:
        codes, kinds = adult(d)
        made = dp_prototypes(kinds, PureDP(epsilon=epsilon), ROW, users=codes.shape[1], clusters=k or None, rows=rows)
        assert made is not None  # noqa: S101  # noise is calibrated to epsilon
        return made.release(in_memory(codes), rng=source).codes

    return own


def _graphical(d: int, _: int, epsilon: str, source: rng.Generator) -> Codes:
    codes, kinds = adult(d)
    made = graphical(kinds, PureDP(epsilon=epsilon), ROW)
    assert made is not None  # noqa: S101
    return made.release(in_memory(codes), rng=source).codes


def _permuted(d: int, _: int, __: str, source: rng.Generator) -> Codes:
    codes, _kinds = adult(d)
    return np.stack([own[order(own.size, source)] for own in codes])


def _constant(d: int, _: int, __: str, source: rng.Generator) -> Codes:
    del source
    codes, kinds = adult(d)
    best = [
        int(kind.nearest(np.array([kind.units[own].mean()]))[0])
        if kind.numeric
        else int((np.bincount(own, minlength=kind.size) @ kind.distance).argmin())
        for kind, own in zip(kinds, codes, strict=True)
    ]
    return np.repeat(np.array(best, dtype=np.int32)[:, None], codes.shape[1], axis=1)


METHODS: dict[str, Release] = {
    "per_value": lambda d, _, epsilon, source: _per_record(d, d * Fraction(epsilon), source),
    "per_record": lambda d, _, epsilon, source: _per_record(d, Fraction(epsilon), source),
    "insensitive_microaggregation": _insensitive,
    "representative": _dp_prototypes("representative"),
    "mixture": _dp_prototypes("mixture"),
    "graphical": _graphical,
    "permuted columns": _permuted,
    "constant record": _constant,
}
"""Noise on every record as the document has it (every value the whole epsilon); those with a proof; the controls."""
UNORDERED = ("representative", "mixture", "graphical")
CONTROLS = ("permuted columns", "constant record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a release loses.

    Args:
        aligned: squared distances of all rows from the records at their places; None of a release in no order.
        matched: of a sample of rows from a sample of records, matched, times the rows for each of the sample.
        two_way: total variation distance of the tables of two attributes, as a mean over all pairs.
    """

    aligned: float | None
    matched: float
    two_way: float


def measured(d: int, method: str, records: Codes, samples: rng.Generator) -> Found:
    """Return all measures of a release.

    Args:
        d: the number of attributes.
        method: whose records they are.
        records: shape (attributes, records).
        samples: random words that draw the rows and the records that are matched.
    """
    rows, kinds = adult(d)
    some, others = (own[:, order(own.shape[1], samples)[:MATCHED]] for own in (rows, records))
    pairs = linked(kinds, some, others, aligned=False).original
    squares = float(apart(kinds, some[:, pairs], others).mean()) * rows.shape[1]
    aligned = None if method in UNORDERED else float(apart(kinds, rows, records).sum())
    return Found(aligned=aligned, matched=squares, two_way=two_way(kinds, rows, records))


def linkage(d: int, records: Codes, source: rng.Generator, most: int) -> float:
    """Return RL of a release in the rows' order, in per cent: of all records, or of `most` where more differ."""
    rows, kinds = adult(d)
    size = rows.shape[1]
    part = order(size, source)[: most if np.unique(records, axis=1).shape[1] > most else size]
    least, ties, _ = nearest(kinds, rows, records[:, part])
    own = apart(kinds, rows[:, part], records[:, part]) <= least + SAME
    return 100 * float(np.where(own, 1 / ties, 0).mean())


def two_way(kinds: Columns, rows: Codes, records: Codes) -> float:
    """Return the mean total variation distance of the shares in tables of two attributes."""
    sizes = [min(kind.size, BINS) if kind.numeric else kind.size for kind in kinds]
    bins = [binned(kind.size, size) for kind, size in zip(kinds, sizes, strict=True)]
    both = [[place[own] for place, own in zip(bins, codes, strict=True)] for codes in (rows, records)]

    def distance(one: int, other: int) -> float:
        shares = [
            np.bincount(own[one] * sizes[other] + own[other], minlength=sizes[one] * sizes[other]) / own[one].size
            for own in both
        ]
        return float(np.abs(shares[0] - shares[1]).sum() / 2)

    pairs = itertools.combinations(range(len(kinds)), 2)
    return float(np.mean([distance(*pair) for pair in pairs]))


def order(size: int, source: rng.Generator) -> Counts:
    """Return all places in random order."""
    return np.asarray(np.argsort(source.words(size)), dtype=np.int64)


def apart(kinds: Columns, rows: Codes, records: Codes) -> Array:
    """Return the squared distances of records: numbers on the scale of their bounds, and hierarchies, shape (rows,)."""
    total = np.zeros(rows.shape[1])
    for kind, own, new in zip(kinds, rows, records, strict=True):
        far = kind.scaled[own] - kind.scaled[new] if kind.numeric else kind.distance[own, new]
        total += far**2
    return total


def averaged(d: int, groups: Labels, records: Codes, epsilon: str) -> float:
    """Return how much of the noise is left in the mean of a cluster's records: root mean squares, 1 if none averages.

    Over all clusters and numbers: the error of the released records' mean over the deviation of the noise, sqrt(2)
    (range / size) / epsilon.
    """
    codes, kinds = adult(d)
    sizes = np.bincount(groups)
    found = []
    for kind, own, new in zip(kinds, codes, records, strict=True):
        if kind.numeric:
            means = [np.bincount(groups, kind.scaled[one]) / sizes for one in (own, new)]
            found.append((means[1] - means[0]) / (math.sqrt(2) / sizes / float(epsilon)))
    return float(np.sqrt(np.mean(np.square(found))))


def composed(d: int) -> float:
    """Return the exact loss of one record whose every value is perturbed with epsilon = 1: a product of channels.

    Of a number the log ratio far out, its range over the scale of the noise; of a category that of being kept.
    """
    made = PerRecord(columns=adult(d)[1], loss=PureDP(epsilon=d), users=1)
    total = 0.0
    for kind in made.columns:
        if kind.numeric:
            noise = DiscreteLaplace.calibrate(epsilon=made.share, l1_sensitivity=2 * kind.span)
            total += 2 * kind.span / float(noise.scale)
        else:
            kept = truth_probability(made.share, Fraction(kind.size - 1))
            total += math.log(kept / ((1 - kept) / (kind.size - 1)))
    return total
