"""What the selections by weights have in common: whom they serve, and what their noise hides.

lengths of a unit's weights, noise -> delta of what moves -> with the chance that new names show, delta of both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.mechanisms.selection.above_threshold import check_total, steps_of
from dpress.mechanisms.selection.name_weights import MOST_ROWS, shares_of_names
from dpress.noise.normal_profile import shift_delta


def check_served(method: str, loss: ApproxDP, unit: Unit, total: Fraction) -> None:
    """Refuse what no selection by weights is calibrated to.

    Raises:
        NotSupported: the loss is not epsilon and delta, a total is asked for, or a person has too many names.
    """
    check_total(loss, total)
    if total:
        raise NotSupported(f"{method} adds up weights, which are no counts and have no total")
    if unit.rows > MOST_ROWS:
        raise NotSupported(f"{method} serves up to {MOST_ROWS:,} names of a person, got {unit.rows:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightNoise:
    """The noise of all rounds, and what it hides.

    Args:
        ratio: a rational at or just below exp(epsilon).
        unit: whom the promise protects.
        lengths: of a unit's weights in every round; of those in the first a share f is of names that only the unit has.
        sigma2: of the noise, in squared units of weight.
    """

    ratio: Fraction
    unit: Unit
    lengths: tuple[int, ...]
    sigma2: Fraction

    @property
    def times(self) -> int:
        """How many units' names move: two where one is replaced."""
        return steps_of(self.unit) // self.unit.rows

    def hidden(self, share: Fraction, shown: Fraction) -> Fraction:
        """Return d((1 - f) S1^2 + S2^2 + ..., exp(epsilon) (1 - shown)), S1, S2, ... the lengths; see `shift_delta`.

        Args:
            share: f.
            shown: the chance that a new name shows.
        """
        first, *later = self.lengths
        square = self.times * ((1 - share) * first**2 + sum(length**2 for length in later))
        numbers = len(self.lengths) * steps_of(self.unit)
        return shift_delta(self.sigma2, square, numbers, self.ratio * (1 - shown))

    def spent(self, shown: Callable[[Fraction], Fraction]) -> Fraction:
        """Return a number at or above the delta of all units, over ranges of f, each with the worst of either end.

        Args:
            shown: the chance that a new name shows where a share of the unit's names is new; it grows with the share.
        """
        return max(shown(high) + self.hidden(low, shown(high)) for low, high in shares_of_names(steps_of(self.unit)))
