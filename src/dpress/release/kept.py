"""What a release keeps of a collection: the tallies, and a fit that they alone do not give, as integers.

tallies, fit -> kept integers -> tallies and a fit again. Who reads a release needs no reader of reports for it.
"""

import math

import numpy as np
import numpy.typing as npt

from dpress.core.errors import SchemaMismatch
from dpress.inference.joint.factors import Joint, dense
from dpress.mechanisms.protocol.collection import Collection

Counts = npt.NDArray[np.int64]

UNIT = 1 << 50  # of a fitted share
CLOSE = 1e-6  # to 1, of the sum of a fit that was kept


def kept(tallies: list[Counts], collection: Collection, fitted: Joint | None) -> Counts:
    """Return what a release keeps: the tallies, and a fit that they alone do not give, in units of 2^-50."""
    if collection.estimator is None or fitted is None or collection.estimator.from_tallies:
        return np.concatenate(tallies)
    cells = np.rint(fitted.marginal(tuple(range(len(collection.shape)))).ravel() * UNIT).astype(np.int64)
    return np.concatenate([*tallies, cells])


def refitted(values: Counts, collection: Collection) -> tuple[list[Counts], Joint | None]:
    """Return the tallies and the fit that a release kept.

    Raises:
        SchemaMismatch: the fit has a negative share, or does not add up to 1.
    """
    size = sum(collection.sizes)
    tallies = collection.split_tally(values[:size])
    if collection.estimator is None:
        return tallies, None
    if collection.estimator.from_tallies:
        return tallies, collection.estimator.fit(tallies, list)
    shares = values[size:] / UNIT
    if shares.size != math.prod(collection.shape) or shares.min() < 0 or abs(float(shares.sum()) - 1) > CLOSE:
        raise SchemaMismatch("the fitted joint that the release keeps is no distribution")
    return tallies, dense(shares.reshape(collection.shape))
