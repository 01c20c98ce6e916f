"""What every method that releases names has in common: those above a threshold, and a noisy total."""

from fractions import Fraction
from typing import Any

import numpy as np

from dpress.core.basics.claim import Relation, Unit
from dpress.core.basics.free_memory import check_memory
from dpress.core.basics.losses.any_loss import describe
from dpress.core.basics.losses.approximate import approximate
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Draw, Drawn
from dpress.core.methods.name_counts import CountNames, Integers, NameCounts, NoisyNames
from dpress.core.methods.table_sums import Rows
from dpress.noise.laplace import DiscreteLaplace

TOTAL_SHARE = Fraction(1, 20)  # of epsilon, for the total that `other` is the rest of
EVEN, LIKELY = Fraction(1, 2), Fraction(99, 100)  # chances of release whose counts are stated
FEWER = "limit the rows by `where` (nothing was charged)"
PER_NAME = 512  # bytes: the name as it is counted, sorted, released and written, with its count and interval


def steps_of(unit: Unit) -> int:
    """Return how many counts of names differ by 1 between neighbours, at most: a replaced unit leaves and enters."""
    return unit.rows * (2 if unit.relation is Relation.REPLACE_ONE else 1)


def check_total(loss: Loss, total: Fraction) -> None:
    """Refuse a loss without delta, and a total that leaves nothing for the names.

    Raises:
        NotSupported, ValueError: naming the fault.
    """
    approximate(loss, f"the selection of names is calibrated to epsilon and delta, got {describe(loss)}")
    if not 0 <= total < loss.amount:
        raise ValueError(f"total must lie between 0 and epsilon, got total={total}")


def total_noise_of(unit: Unit, total: Fraction) -> DiscreteLaplace | None:
    """Return the noise of the total, which a unit changes by at most its rows; None where nothing is spent on it."""
    return DiscreteLaplace.calibrate(epsilon=total, l1_sensitivity=unit.rows) if total else None


def check_names(names: int, of_each: int = 0) -> None:
    """Refuse, before anything is charged, more names than fit into memory.

    How many the rows have is private: the figure is rounded up to a power of two.

    Args:
        names: that the rows have.
        of_each: numbers that are held of every one beside its count.

    Raises:
        NotSupported: there are too many.
    """
    needed = names * (PER_NAME + 8 * of_each)
    check_memory(1 << needed.bit_length(), "what is made of the names in the rows", FEWER)


class AboveThreshold:
    """Names whose noisy counts reach a threshold, with these, and a noisy total: what all methods share.

    Error of the total: variance 2q / (1 - q)^2 in counts squared, q = exp(-total / rows); 0 where none is drawn.
    """

    __slots__ = ()
    unit: Unit

    @property
    def total(self) -> Fraction:
        """The part of epsilon for a noisy total: none unless a method has a field for it."""
        return Fraction(0)

    @property
    def weights(self) -> tuple[int, ...] | None:
        """What a unit with 1, 2, ... names adds to the count of each; None where that is 1, however many there are."""
        return None

    @property
    def least(self) -> int:
        """The least that a unit adds to the count of a name: where it has as many names as it may."""
        return self.weights[-1] if self.weights else 1

    def holders_for(self, chance: Fraction) -> int:
        """Return how many units that have a name make it released with this probability, whatever else they have."""
        return -(-self.count_for(chance) // self.least)

    def count_for(self, chance: Fraction) -> int:
        """Return the smallest count of a name that is released with at least this probability."""
        raise NotImplementedError

    def not_below(self, minimum: int) -> Any:
        """Return the mechanism that releases only those of its names whose published counts are at least so large.

        Promise: the same. What is left out is decided by what would be released.
        """
        raise NotImplementedError

    @property
    def noise(self) -> Any:
        """What is added to the count of every name."""
        raise NotImplementedError

    @property
    def steps(self) -> int:
        """How many counts of names differ by 1 between neighbours, at most: a replaced unit leaves and enters."""
        return steps_of(self.unit)

    @property
    def total_noise(self) -> DiscreteLaplace | None:
        """What is added to the total; None without one."""
        return total_noise_of(self.unit, self.total)

    @property
    def total_variance(self) -> float:
        """The variance of the noisy total, in counts squared; 0 without one."""
        noise = self.total_noise
        return noise.variance if noise is not None else 0.0

    @property
    def variance(self) -> float:
        """The variance of the count of a name, in counts squared."""
        return float(self.noise.variance)

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the names of the only attribute; see `CuratorMechanism`."""
        count = rows.names(0)
        names = count(self.weights, None)
        check_names(len(names.names))
        return lambda rng: Drawn(output=self.find(names, count, rng=rng))

    def numbers_held(self, rows: int) -> int:
        """Return how many numbers are in memory before names are counted: none that depend on anything."""
        del rows
        return 0

    def find(self, names: NameCounts, again: CountNames, *, rng: Generator) -> NoisyNames:
        """Return the names that are released by their counts, or sums of weights, alone; see `select`."""
        del again
        return self.select(names, rng=rng)

    def select(self, names: NameCounts, *, rng: Generator) -> NoisyNames:
        """Return the names that are released, with their noisy counts and the total.

        Args:
            names: exact counts.
            rng: a secure generator.
        """
        mechanism: Any = self
        noisy = names.counts + self.noise.sample(names.counts.size, rng=rng)
        return released(names, noisy, mechanism.threshold, self.total_noise, rng=rng)


def released(
    names: NameCounts, noisy: Integers, threshold: int, total_noise: DiscreteLaplace | None, *, rng: Generator
) -> NoisyNames:
    """Return the names whose noisy counts reach a threshold, with these, and before them the noisy total."""
    kept = np.flatnonzero(noisy >= threshold)
    nothing = np.zeros(0, dtype=np.int64)
    total = nothing if total_noise is None else names.total + total_noise.sample(1, rng=rng)
    return NoisyNames(
        names=tuple(names.names[place] for place in kept.tolist()), answers=np.concatenate([total, noisy[kept]])
    )
