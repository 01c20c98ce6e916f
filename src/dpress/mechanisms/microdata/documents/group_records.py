"""Records from groups, as the document on microdata publishes them: noise for every record around its group's values.

Nothing here is proven to protect anybody; the noise itself is exact.
codes and groups -> counts of cells in every group -> a mean with noise, or a value that occurs, for every record
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.attributes.mixed import Column
from dpress.core.basics.claim import Claim, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Codes, Counts
from dpress.mechanisms.microdata.prototypes import Labels
from dpress.noise.bernoulli import exponential_coins
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.uniform import below

STEPS = 1 << 16
"""Steps of a unit in which means and their noise are counted."""

BASIS = (
    "no proof: the groups are made of the raw records, the attributes of a record compose, the noise is drawn anew for "
    "every record of a group, and only categories that occur in it are candidates"
)


def check(loss: Loss, unit: Unit) -> None:
    """Refuse what the document does not define.

    Raises:
        NotSupported: the loss is not pure epsilon, or a person has several rows.
    """
    pure(loss, f"the noise of a group's records is calibrated to epsilon, got {describe(loss)}")
    if unit.rows != 1:
        raise NotSupported(f"the noise of a group's records is published for one row a person, got {unit.rows}")


def claim(loss: Loss, unit: Unit) -> Claim:
    """Return the published promise, and why it is not proven."""
    return Claim(published=loss, proven=None, unit=unit, basis=BASIS)


def records(
    columns: tuple[Column, ...], codes: Codes, groups: Labels, *, epsilon: Fraction, rng: Generator
) -> npt.NDArray[np.int32]:
    """Return one record for every row, in the order of the rows, shape (attributes, rows).

    A number is its group's mean plus Laplace noise of scale (range / size of the group) / epsilon, clipped to the
    bounds; a category one of those that occur in the group, drawn with probability proportional to
    exp(epsilon u / (2 / size)) for the relative frequency u, which is exp(epsilon count / 2). Every value gets the
    whole epsilon.

    Args:
        columns: of the records.
        codes: of the rows.
        groups: the group of every row, from 0; none is empty.
        epsilon: as published.
        rng: a secure generator.
    """
    out = np.empty(codes.shape, dtype=np.int32)
    for column, column_codes, made in zip(columns, codes, out, strict=True):
        counts = _counts(groups, column_codes, column.size)
        if column.numeric:
            made[:] = _numbers(column, counts, groups, epsilon, rng=rng)
        else:
            made[:] = _categories(counts, groups, epsilon / 2, rng=rng)
    return out


def _counts(groups: Labels, codes: npt.NDArray[np.int32], size: int) -> Counts:
    counts = np.bincount(groups.astype(np.int64) * size + codes, minlength=(int(groups.max()) + 1) * size)
    return counts.reshape(-1, size).astype(np.int64, copy=False)


def _numbers(
    column: Column, counts: Counts, groups: Labels, epsilon: Fraction, *, rng: Generator
) -> npt.NDArray[np.int32]:
    """Return cells: groups of one size have noise of one scale, drawn together."""
    sizes = counts.sum(axis=1)
    means = np.rint(counts @ column.units / sizes * STEPS).astype(np.int64)[groups]
    row_sizes = sizes[groups]
    for size in np.unique(row_sizes).tolist() if column.span else ():
        rows = np.flatnonzero(row_sizes == size)
        noise = DiscreteLaplace.calibrate(epsilon=epsilon, l1_sensitivity=Fraction(2 * column.span * STEPS, size))
        means[rows] += noise.sample(rows.size, rng=rng)
    return column.nearest(means / STEPS)


def _categories(counts: Counts, groups: Labels, rate: Fraction, *, rng: Generator) -> npt.NDArray[np.int32]:
    """Return a code for every row, with probability proportional to exp(rate count) among those of its group."""
    gaps = counts.max(axis=1, keepdims=True) - counts
    out, open_rows = np.zeros(groups.size, dtype=np.int32), np.arange(groups.size)
    while open_rows.size:
        codes, row_groups = below(counts.shape[1], open_rows.size, rng=rng), groups[open_rows]
        gap = gaps[row_groups, codes]
        coins = exponential_coins(gap * float(rate), lambda lane, gap=gap: rate * int(gap[lane]), rng=rng)  # type: ignore[misc]
        kept = coins & (counts[row_groups, codes] > 0)
        out[open_rows[kept]] = codes[kept]
        open_rows = open_rows[~kept]
    return out
