"""Which pairs of attributes depend on each other significantly: a chi-square test of independence for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpress.core.basics.extras import scipy
from dpress.inference.consistency import Axes
from dpress.inference.joint.contrast import Contrast

ALPHA = 0.05
_NO_NOISE = 1e-24


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependenceTest:
    """The chi-square test of independence of two attributes, from an estimated table.

    Args:
        axes: the pair.
        statistic: the squared residual over its mean under independence, times `degrees_of_freedom`: near that by
            noise alone.
        degrees_of_freedom: effective ones, of the chi-square distribution that has the same mean and variance.
        p_value: the chance of a statistic as large as this, were the attributes independent.
        significant: whether that is below alpha divided by the number of pairs (Bonferroni).
    """

    axes: Axes
    statistic: float
    degrees_of_freedom: float
    p_value: float
    significant: bool


def chi_square_tests(contrasts: Sequence[Contrast], *, alpha: float = ALPHA) -> tuple[IndependenceTest, ...]:
    """Return the test of every contrast, in the same order.

    With chance alpha at most, about, some pair is significant though all attributes are independent: where no pair
    is, the fitted joint does not differ significantly from the product of one-way tables. That is no proof of
    independence.
    Error: the law of the statistic is approximate (normal noise, Satterthwaite's moments, estimated one-way shares).

    Args:
        contrasts: of all pairs that are tested together.
        alpha: chance of any false alarm.
    """
    return tuple(_chi_square_test(contrast, alpha / len(contrasts)) for contrast in contrasts)


def _chi_square_test(contrast: Contrast, level: float) -> IndependenceTest:
    gammaincc = scipy("special").gammaincc

    if contrast.mean < _NO_NOISE:
        certain = contrast.energy > _NO_NOISE
        return IndependenceTest(
            axes=contrast.axes,
            statistic=contrast.energy,
            degrees_of_freedom=1.0,
            p_value=1.0 - certain,
            significant=certain,
        )
    degrees = 2 * contrast.mean**2 / contrast.variance
    statistic = contrast.energy / contrast.mean * degrees
    p_value = float(gammaincc(degrees / 2, statistic / 2))
    return IndependenceTest(
        axes=contrast.axes,
        statistic=statistic,
        degrees_of_freedom=degrees,
        p_value=p_value,
        significant=p_value < level,
    )
