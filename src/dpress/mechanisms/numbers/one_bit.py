"""`one_bit`: the device sends one bit, more likely 1 the larger its number is.

level -> a coin whose probability rises by the same step from level to level -> the number of ones -> the mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.inference.numbers.report_sums import Scores
from dpress.noise.expansion import WORD
from dpress.noise.response import LEFT_OUT, check_coin, check_odds, truth_probability

MOST_LEVELS = 1 << 12
REFUSAL = "a bit is calibrated to epsilon"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBit(Oracle):
    """A coin for a number at one of some levels: P(1) = 1 - p + level (2 p - 1) / (levels - 1).

    Promise: pure epsilon between any two levels, local model: P(1) lies between 1 - p and p, and p / (1 - p) <=
        e^epsilon. Proven.
    Error: a report adds P(1) P(0) / s^2 to the variance of the sum of levels, s the step of P(1) from level to level.
    Paper: Duchi, Jordan, Wainwright 2018; as one bit Ding, Kulkarni, Yekhanin 2017, Section 2.

    Args:
        size: the number of levels, at least 2, at most 2^12.
        loss: epsilon.
        p: P(1) at the last level; left out, the largest that epsilon allows and whose steps are multiples of 2^-64.

    >>> from dpress.core.basics import rng
    >>> oracle = OneBit(size=5, loss=PureDP(epsilon=1))
    >>> oracle.perturb(np.array([0, 4, 4]), rng=rng.seeded(1)).tolist()
    [[1], [0], [1]]
    """

    size: int
    loss: PureDP
    p: Fraction = LEFT_OUT
    circular: ClassVar[bool] = False
    tells_shape: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 2 <= check.count("size", self.size) <= MOST_LEVELS:
            raise ValueError(f"size must lie between 2 and {MOST_LEVELS:,}, got size={self.size}")
        payload.check_domain(self.size, self.loss)
        p = check.exact("p", self.p)
        if p == LEFT_OUT:
            steps = self.size - 1
            step = int((2 * truth_probability(self.loss.epsilon) - 1) * (1 << WORD)) // (2 * steps) * 2
            p = Fraction((1 << WORD) + steps * step, 2 << WORD)
        object.__setattr__(self, "p", p)
        check_coin("p", p)
        check_odds(p / (1 - p), self.loss.epsilon)
        if (1 << WORD) % self.step.denominator:
            raise ValueError(f"2 p - 1 must be {self.size - 1} times a multiple of 2^-64, got p={float(p)}")

    @property
    def step(self) -> Fraction:
        """What P(1) rises from level to level."""
        return (2 * self.p - 1) / (self.size - 1)

    @property
    def width(self) -> int:
        """One byte."""
        return 1

    @property
    def outputs(self) -> int:
        """Two: 0 and 1."""
        return 2

    @property
    def groups(self) -> int:
        """One: a bit tells no groups apart."""
        return 1

    @property
    def levels(self) -> int:
        """The number of levels, as of the other reports of numbers."""
        return self.size

    @property
    def scores(self) -> Scores:
        """What a bit adds to the number of users and to the sum of their levels."""
        low, step, centre = float(1 - self.p), float(self.step), (self.size - 1) / 2
        bits = (np.array([0.0, 1.0]) - low) / step - centre
        return Scores(rows=np.array([[1.0, 1.0], bits]), apart=np.zeros(2))

    def expected(self, table: Array) -> Array:
        """Return the expected zeros and ones for counts of shape (1, levels), shape (1, 2)."""
        ones = float(table[0] @ (float(1 - self.p) + np.arange(self.size) * float(self.step)))
        return np.array([[float(table.sum()) - ones, ones]])

    @property
    def claim(self) -> Claim:
        """The promise, from the probabilities that the sampler uses."""
        basis = f"one bit, P(1) from 1 - p to p = {self.p}, by the level"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one bit for every level.

        Raises:
            ValueError: a value is not one of 0, ..., size - 1 (the value is not shown).
        """
        levels = payload.codes(values, self.size).astype(np.uint64)
        low, step = int((1 - self.p) * (1 << WORD)), int(self.step * (1 << WORD))
        ones = rng.words(levels.size) < np.uint64(low) + levels * np.uint64(step)
        return ones.astype(np.uint8)[:, None]

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports hold no bit."""
        return {"out of range": payload.unpack(payloads) >= 2}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many zeros and ones there are."""
        return payload.histogram(payloads, 2)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the zeros and ones as what they are, with the most that their variance can be."""
        answers = tally.astype(np.float64)
        return Measurement(map=Identity(2), answers=answers, variance=float(answers.prod()) / max(users, 1))

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the ones where that share of the users is at an end of the levels, others between."""
        end, half = float(self.p * (1 - self.p)), 0.25
        return users * (frequency * end + (1 - frequency) * half)

    def channel(self) -> Channel:
        """Return the exact channel."""
        ones = [1 - self.p + level * self.step for level in range(self.size)]
        rows = tuple((1 - chance, chance) for chance in ones)
        return Channel(payloads=np.array([[0], [1]], dtype=np.uint8), probabilities=rows)


CARD = Card(
    name="one_bit",
    family="numbers",
    model="local",
    paper="local: one bit (Duchi, Jordan, Wainwright 2018; Ding, Kulkarni, Yekhanin 2017)",
    summary="Sends one bit, more likely 1 for larger numbers: a mean, best where numbers lie near the bounds.",
    method=OneBit,
    example=lambda loss, _: OneBit(size=5, loss=pure(loss, REFUSAL)),
)
