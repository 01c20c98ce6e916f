"""Standard errors of a fitted joint distribution: what it says of itself when it is collected and fitted again.

Flow: joint -> shares of every table + normal noise of the known variance -> the same fit -> spread of its marginals.
It sees the noise and what the fit makes of it. It cannot see the model's own error:
interactions of more attributes than the tables hold, and those that shrinkage has taken away, are absent from the joint
that it starts from.
"""

from collections.abc import Callable

import numpy as np

from dpress.core.linear import Array
from dpress.core.rng import Generator
from dpress.estimate.consistency import Axes
from dpress.estimate.joint import Joint
from dpress.estimate.pair_tables import NoisyTable, Tables


def resampled(tables: Tables, joint: Joint, *, rng: Generator) -> Tables:
    """Return tables as the same questions would give them, were the joint the truth; sums stay 1."""
    return Tables(shape=tables.shape, noisy=tuple(_again(one, joint, rng) for one in tables.noisy))


def deviations(
    tables: Tables, joint: Joint, axes: Axes, *, refit: Callable[[Tables], Joint], runs: int, rng: Generator
) -> Array:
    """Return the standard error of every cell of a marginal by parametric bootstrap, shape of the marginal.

    Error: relative, about 1 / sqrt(2 runs).

    Args:
        tables: what the joint was fitted to; only their noise is used.
        joint: the fitted distribution.
        axes: of the marginal.
        refit: from tables to a joint, as it was fitted.
        runs: at least 2.
        rng: the generator; nothing private is drawn.
    """
    drawn = [refit(resampled(tables, joint, rng=rng)).marginal(axes) for _ in range(runs)]
    return np.asarray(np.std(drawn, axis=0, ddof=1))


def _again(one: NoisyTable, joint: Joint, rng: Generator) -> NoisyTable:
    from scipy.special import ndtri  # noqa: PLC0415 - loads slowly

    shares = joint.marginal(one.axes)
    if shares.size == 1:
        return NoisyTable(axes=one.axes, shares=shares, noise=one.noise)
    normal = ndtri((rng.words(shares.size) >> np.uint64(12)) * 2.0**-52 + 2.0**-53).reshape(shares.shape)
    noise = np.sqrt(one.noise.variance(shares) * (shares.size / (shares.size - 1))) * normal
    return NoisyTable(axes=one.axes, shares=shares + noise - noise.mean(), noise=one.noise)
