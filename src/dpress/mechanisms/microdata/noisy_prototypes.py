"""Prototypes from noisy answers: post-processing, without a record.

noisy sizes, sums and histograms of every cluster -> its centre -> what every cell costs in it.
"""

from collections.abc import Sequence

import numpy as np

from dpress.attributes.mixed import Column
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import Codes
from dpress.inference.maps.top_down import on_simplex
from dpress.mechanisms.microdata.cluster_queries import InClusters
from dpress.mechanisms.microdata.prototypes import Clusters
from dpress.mechanisms.microdata.record_sampling import drawn

SPREAD = 1 / 12  # the variance of a number that is spread evenly over its bounds, on their scale


def tables(measured: Measurement) -> list[Array]:
    """Return the noisy answers of every part of a round, each of shape (clusters, columns)."""
    answers = []
    for part in measured.parts:
        if not isinstance(part.map, InClusters):
            raise TypeError(f"clusters are made of what was measured in clusters, got {type(part.map).__name__}")
        answers.append(np.asarray(part.answers, dtype=np.float64).reshape(part.map.clusters.size, -1))
    return answers


def variances(measured: Measurement) -> list[float]:
    """Return the variance of one answer of every part."""
    return [float(np.max(part.variance)) for part in measured.parts]


def centred(columns: Sequence[Column], measured: Measurement, before: Sequence[Array]) -> list[Array]:
    """Return every attribute's values, one a cluster: a mean on the scale of the bounds, or the code of a category.

    A mean is the noisy sum S over the noisy size N, clipped to the bounds, and where noise v drowns it nearer to the
    value before: b + (S / N - b) N^2 / (N^2 + v / SPREAD), the best linear guess for means that are SPREAD around b. A
    category has the least distance to all others by the noisy histogram: its mode where all are as far apart.

    Args:
        columns: of the records.
        measured: sizes, and for each attribute sums in units or a histogram of every cluster.
        before: the values that the records went to.
    """
    (size, *answers), (_, *spread) = tables(measured), variances(measured)
    sizes, values = np.maximum(size[:, 0], 1.0), list[Array]()
    for column, noisy, variance, old in zip(columns, answers, spread, before, strict=True):
        if column.numeric:
            unit = 2.0 * max(column.span, 1)
            trust = sizes**2 / (sizes**2 + variance / unit**2 / SPREAD)
            values.append(old + trust * (np.clip(noisy[:, 0] / unit / sizes, -0.5, 0.5) - old))
        else:
            values.append((noisy @ column.distance).argmin(axis=1).astype(np.float64))
    return values


def placed(columns: tuple[Column, ...], values: Sequence[Array]) -> Clusters:
    """Return the prototypes with these values."""
    pairs = zip(columns, values, strict=True)
    costs = [column.weight * _apart(column, prototypes) for column, prototypes in pairs]
    return Clusters(columns=columns, costs=np.concatenate(costs))


def nearest(columns: Sequence[Column], values: Sequence[Array]) -> Codes:
    """Return the code that is nearest to every value, shape (attributes, clusters)."""
    return np.array([_apart(*pair).argmin(axis=0) for pair in zip(columns, values, strict=True)], dtype=np.int32)


def started(columns: Sequence[Column], histograms: Sequence[Array], clusters: int, *, rng: Generator) -> list[Array]:
    """Return values drawn from noisy one-way histograms, as if the attributes were independent.

    Args:
        columns: of the records.
        histograms: of everybody, each of shape (cells,).
        clusters: k.
        rng: a secure generator.
    """
    values = []
    for column, histogram in zip(columns, histograms, strict=True):
        weights = on_simplex(histogram[None], np.array([max(float(histogram.sum()), 0.0)]))[0]
        codes = drawn(weights, clusters, rng=rng)
        values.append(column.scaled[codes] if column.numeric else codes.astype(np.float64))
    return values


def _apart(column: Column, values: Array) -> Array:
    """Return the distance of every cell from every value, without the weight, shape (cells, clusters)."""
    if column.numeric:
        return np.asarray((column.scaled[:, None] - values) ** 2)
    return np.asarray(column.distance[:, values.astype(np.int64)])
