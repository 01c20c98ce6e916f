"""What the selections by discrete Gaussian noise have in common."""

from dataclasses import replace
from fractions import Fraction
from typing import Literal, Self

from dpress.mechanisms.selection.above_threshold import AboveThreshold
from dpress.noise.gaussian import DiscreteGaussian


class AboveGaussian(AboveThreshold):
    """Names whose counts in discrete Gaussian noise reach a threshold."""

    __slots__ = ()
    sigma2: Fraction
    threshold: int

    @property
    def noise(self) -> DiscreteGaussian:
        """What is added to the count of every name."""
        return DiscreteGaussian(sigma2=self.sigma2)

    @property
    def mean(self) -> float:
        """The noise's mean."""
        return 0.0

    @property
    def tail(self) -> Literal["gaussian"]:
        """How heavy the noise's tail is."""
        return "gaussian"

    def not_below(self, minimum: int) -> Self:
        """Return the mechanism with a threshold that is no smaller: its `spent` falls with the threshold."""
        return replace(self, threshold=max(self.threshold, minimum))  # type: ignore[type-var]  # subclasses are data classes

    def count_for(self, chance: Fraction) -> int:
        """Return the smallest count of a name that is released with at least this probability, in [1/2, 1)."""
        if not Fraction(1, 2) <= chance < 1:
            raise ValueError(f"chance must lie between 1/2 and 1, got chance={chance}")
        return self.threshold + (self.noise.quantile(2 * chance - 1) if 2 * chance > 1 else 0)
