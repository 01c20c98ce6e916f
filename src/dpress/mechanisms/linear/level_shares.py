"""Which share of the loss each level of a tree should get for the smallest mean variance."""

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpress.core.basics.extras import scipy
from dpress.core.maps.linear import Array
from dpress.core.maps.tree import Tree
from dpress.inference.averages import tree_average

GRAIN = 1 << 20  # shares are whole multiples of its inverse


def best_shares(tree: Tree, power: int, mean: Callable[[Sequence[float]], float] | None = None) -> tuple[Fraction, ...]:
    """Return the levels' shares, exact rationals that add up to 1, from the top.

    A share s of the loss gives noise of variance proportional to 1 / s^2 under epsilon (Laplace) and 1 / s under rho
    (Gaussian); the mean variance of the workload is minimised over the logarithms of the shares by BFGS.

    Args:
        tree: what is measured.
        power: `power_of` the loss.
        mean: the workload's mean variance under one noise variance a measured level, from the top, positive; left out,
            that of all ranges.

    >>> [round(float(share), 2) for share in best_shares(Tree(1331, 11, root=False), 2)]
    [0.32, 0.32, 0.36]
    """
    levels = len(tree.levels)
    if levels == 1:
        return (Fraction(1),)
    of_variances = mean or functools.partial(tree_average, tree)

    def objective(logarithms: Array) -> float:
        return float(np.log(of_variances((_normal(logarithms) ** -power).tolist())))

    optimum = scipy("optimize").minimize(objective, np.zeros(levels), method="BFGS", options={"gtol": 1e-5})
    return _exact(_normal(optimum.x))


def _normal(logarithms: Array) -> Array:
    """Return positive shares that add up to 1; none is below a thousandth of the largest."""
    shares = np.exp(np.maximum(logarithms - logarithms.max(), -6.9))
    return np.asarray(shares / shares.sum())


def _exact(shares: Array) -> tuple[Fraction, ...]:
    whole = np.maximum(np.floor(shares * GRAIN), 1).astype(np.int64)
    whole[np.argmax(whole)] += GRAIN - int(whole.sum())
    return tuple(Fraction(int(share), GRAIN) for share in whole)
