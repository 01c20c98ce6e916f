"""The linear form of a release's noise, small enough for a page: from it the exact error of any query follows offline.

mechanism -> which formula a query's variance has, with its numbers -> JSON. `script/errors.js` computes the same as
the decoder's `query_variance`.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpress.core.maps.linear import Array, Invertible, Variance
from dpress.inference.consistency import ConsistentTables
from dpress.inference.least_squares import LeastSquares
from dpress.inference.residual_tables import ResidualTables
from dpress.inference.separate_tables import SeparateTables
from dpress.reporting.packed_numbers import packed

MOST_DENSE = 128  # cells of an axis whose covariance the page has in full
Form = Mapping[str, Any]


def of_curator(decoder: Any, variance: Variance) -> Form | None:
    """Return the form of a curator's noise; None where the page cannot have it.

    Args:
        decoder: of the mechanism.
        variance: of what was measured, in counts squared.

    Returns:
        `product`: variance times the product of w C w of every axis, C being `equal` (the unit matrix), that of a
        `tree` with its levels' variances, null for a root that is not measured, `haar`, `sums` (`PIdentity`'s), or
        `dense`, row by row.
        `components`: the variance of every set of axes, as `inference.consistency.query_variance` has it.
    """
    if isinstance(decoder, LeastSquares):
        return _product(decoder.map, decoder.shape, variance)
    if isinstance(decoder, ConsistentTables | ResidualTables):
        sets = sorted({subset for axes in decoder.tables for subset in _subsets(axes)})
        return {"form": "components", "of": [[axes, _component(decoder, axes, variance)] for axes in sets]}
    return None


def of_collection(decoder: Any, errors: Mapping[int, Array]) -> Form | None:
    """Return the form of the noise of separate tables, for weights of one sign; None where tables are not separate.

    Args:
        decoder: of the collection.
        errors: the standard error of every cell of some tables, by their places.
    """
    if not isinstance(decoder, SeparateTables):
        return None
    return {
        "form": "cells",
        "inflation": [decoder.inflation[place] for place in errors] if decoder.inflation else [],
        "variances": [packed(array.ravel() ** 2) for array in errors.values()],
    }


def _product(matrix: Invertible, shape: Sequence[int], variance: Variance) -> Form | None:
    factors, scalar = matrix.by_axis(shape), np.ndim(variance) == 0
    if len(factors) != len(shape) or not (scalar or len(shape) == 1):
        return None
    axes = [_along(factor, 1.0 if scalar else variance) for factor in factors]
    if any(axis is None for axis in axes):
        return None
    return {"form": "product", "variance": float(variance) if scalar else 1.0, "axes": axes}


def _along(matrix: Invertible, variance: Variance) -> Form | None:
    """Return the covariance of the cells of one axis."""
    form = matrix.covariance_form(variance)
    if form is not None:
        return {name: packed(value) if isinstance(value, np.ndarray) else value for name, value in form.items()}
    if matrix.cells > MOST_DENSE:
        return None
    rows = [matrix.covariance(cell, variance) for cell in np.eye(matrix.cells)]
    return {"linear": "dense", "values": packed(np.concatenate(rows))}


def _component(decoder: ConsistentTables | ResidualTables, axes: tuple[int, ...], variance: Variance) -> float:
    """Return the variance of a component, from that of a query whose weights are centred along its axes.

    Along an axis of one cell, such as a period's, only weights of 0 are centred.
    """
    if any(decoder.shape[axis] == 1 for axis in axes):
        return 0.0
    weights = [np.ones(size) for size in decoder.shape]
    for axis in axes:
        size = decoder.shape[axis]
        weights[axis] = np.zeros(size)
        weights[axis][:2] = (np.sqrt(0.5), -np.sqrt(0.5))
    return decoder.query_variance(variance, weights)


def _subsets(axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [subset for size in range(len(axes) + 1) for subset in itertools.combinations(sorted(axes), size)]
