"""What is predicted of the error of pair tables before anybody answers: from sizes, users and epsilon alone.

Known: the noise of the consistent tables, and that of the product of one-way tables. Unknown before: how strongly the
attributes depend on each other, which decides where between the two (plus the product's bias) the shrunk tables lie.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpress.inference.consistency import Axes
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables

Spread = Callable[[int], tuple[float, float]]


def concentration(sizes: Sequence[int]) -> float:
    """Return the sum of the squared shares of a table to reckon with before anybody answers.

    Formula: prod 2 / (n_i + 1), its expectation where the attributes are independent and the shares of each are drawn
    evenly from all that there can be. A public assumption: real shares are uneven, and equal ones, with their
    prod 1 / n_i, overstate the sampling variance.

    >>> concentration((2, 3))
    0.3333333333333333
    """
    return math.prod(2 / (size + 1) for size in sizes)


def planned(
    shape: Axes,
    sets: Sequence[Axes],
    users: int,
    spread: Spread,
    *,
    weights: Sequence[float] | None = None,
    sampling: float | None = None,
) -> Tables:
    """Return tables of equal shares with the noise that a draw of the report types would give.

    Args:
        shape: the number of cells of every attribute.
        sets: the attributes of every report type, rising.
        users: everybody.
        spread: from a number of cells to `held` and `other` of the oracle, see `Noise`.
        weights: the chance of every report type, adding up to 1; equal if not given.
        sampling: of every report type, see `Noise`; 1 - its chance if not given.
    """
    chances = [1 / len(sets)] * len(sets) if weights is None else weights
    noisy = []
    for axes, chance in zip(sets, chances, strict=True):
        kept = tuple(shape[axis] for axis in axes)
        held, unheld = spread(math.prod(kept))
        noise = Noise(
            users=max(round(users * chance), 1),
            held=held,
            other=unheld,
            sampling=1 - chance if sampling is None else sampling,
        )
        noisy.append(NoisyTable(axes=axes, shares=np.full(kept, 1 / math.prod(kept)), noise=noise))
    return Tables(shape=shape, noisy=tuple(noisy))
