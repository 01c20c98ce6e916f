"""The integer noise distributions: both sample exactly and know their variance, quantiles, mass and loss."""

from fractions import Fraction

from dpress.core.basics.losses.loss import Loss
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

Noise = DiscreteLaplace | DiscreteGaussian


def calibrated(loss: Loss, sensitivity: Fraction) -> Noise:
    """Return the noise that costs a loss.

    Args:
        loss: one that noise is calibrated to.
        sensitivity: of what is answered, in the norm of `loss.order`.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> calibrated(PureDP(epsilon=2), Fraction(3))
    DiscreteLaplace(scale=Fraction(3, 2))

    Raises:
        NotSupported: noise is not calibrated to this loss, or the noise is too large, or too fine, to be drawn.
    """
    if loss.tail == "laplace":
        return DiscreteLaplace(scale=loss.spread(sensitivity))
    return DiscreteGaussian(sigma2=loss.spread(sensitivity))
