"""`square_wave`: the device reports a number near its own, or any other one: a window that slides with the number.

level -> a uniform output of the window around it with probability P, else a uniform one outside -> its number in the
fewest bytes -> how often each output was reported -> sums of the levels and of their squares, or all levels by EM.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.inference.numbers.report_sums import Scores
from dpress.inference.numbers.sliding_window import SlidingWindow
from dpress.noise.response import LEFT_OUT, resolve_probability, truthful
from dpress.noise.uniform import small

BLOCK = 1 << 14
MOST_LEVELS, MOST_OUTPUTS = 1 << 12, 1 << 24
REFUSAL = "reports near a number are calibrated to epsilon"
LARGEST_EXPONENT = 700  # e^-700 is a float above 0; windows are the same for every epsilon beyond


@dataclass(frozen=True, slots=True, kw_only=True)
class SquareWave(Oracle):
    """What devices send of a number and, where there are groups, of the group: one output of as many rows as groups.

    The outputs of a row are levels + window - 1, those of level i's window are i, ..., i + window - 1 of the own
    group's row: every value has a window of as many outputs, whole, and as many outside.

    Promise: pure epsilon between any two values, local model. An output in the window has probability p, any other one
        q, p / q <= e^epsilon. Proven. Group and level are one value: the whole of epsilon serves both.
    Error: the sums of levels and of their squares are unbiased with the exact variance of `scores`; see
        `inference.numbers.report_sums`. The distribution is fitted; see `inference.numbers.sliding_window`.
    Paper: Li et al. 2020, square wave; its wave over the real numbers, cut to levels. Groups are ours.

    Args:
        levels: of the number, at least 2, at most 2^12.
        loss: epsilon.
        groups: 1 without groups.
        window: in outputs, at least 1, at most the levels; 0, left out, stands for the one at which the bound of the
            mutual information is largest.
        truth: P(a report lies in the window); left out, the largest that epsilon allows.

    >>> from dpress.core.basics import rng
    >>> oracle = SquareWave(levels=8, loss=PureDP(epsilon=2))
    >>> oracle.window, oracle.outputs
    (2, 9)
    >>> oracle.perturb(np.array([0, 0, 7]), rng=rng.seeded(1)).tolist()
    [[0], [0], [7]]
    """

    levels: int
    loss: PureDP
    groups: int = 1
    window: int = 0
    truth: Fraction = LEFT_OUT
    circular: ClassVar[bool] = False
    tells_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check.count("groups", self.groups)
        if not 2 <= check.count("levels", self.levels) <= MOST_LEVELS:
            raise ValueError(f"levels must lie between 2 and {MOST_LEVELS:,}, got levels={self.levels}")
        payload.check_domain(self.size, self.loss)
        window = check.count("window", self.window, least=0)
        if window == 0:
            epsilon = float(self.loss.epsilon)
            window = informative_window(self.levels, self.groups, epsilon, circular=self.circular)
        if window > self.levels:
            raise ValueError(f"window must be at most the levels, {self.levels}, got window={window}")
        object.__setattr__(self, "window", window)
        if self.outputs > MOST_OUTPUTS:
            raise ValueError(f"there may be at most 2^24 outputs, got {self.outputs:,}")
        odds = Fraction(self.outputs - window, window)
        object.__setattr__(self, "truth", resolve_probability(self.truth, self.loss.epsilon, odds))

    @property
    def size(self) -> int:
        """The number of values: group times levels plus level."""
        return self.groups * self.levels

    @property
    def row(self) -> int:
        """The number of outputs of one group."""
        return self.levels + self.window - 1

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return self.groups * self.row

    @property
    def width(self) -> int:
        """The number of bytes that hold an output's number."""
        return payload.width(self.outputs)

    @property
    def near(self) -> Fraction:
        """The probability of one output in the window, p."""
        return self.truth / self.window

    @property
    def far(self) -> Fraction:
        """The probability of one output outside, q."""
        return (1 - self.truth) / (self.outputs - self.window)

    @property
    def map(self) -> SlidingWindow:
        """The expected reports of given counts: p and q are those that `perturb` uses."""
        near, far = self.near, self.far
        levels, groups, window = self.levels, self.groups, self.window
        return SlidingWindow(levels=levels, groups=groups, window=window, near=near, far=far, circular=self.circular)

    @property
    def scores(self) -> Scores:
        """What an output adds to the number of a group's users, and to the sums of their levels and squares."""
        return self.map.scores

    def expected(self, table: Array) -> Array:
        """Return the expected reports for counts of shape (groups, levels), shape (groups, row)."""
        return self.map.seen(table)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        basis = (
            f"one of {self.outputs} outputs: with probability {self.truth} a uniform one of the {self.window} of the "
            f"own level's window, else a uniform one of the {self.outputs - self.window} others, whatever the level"
        )
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every value.

        Raises:
            ValueError: a value is not one of 0, ..., size - 1 (the value is not shown).
        """
        codes = payload.codes(values, self.size).view(np.uint32)
        out = np.empty((codes.size, self.width), dtype=np.uint8)
        for start in range(0, codes.size, BLOCK):
            answers = self._respond(codes[start : start + BLOCK], rng=rng)
            out[start : start + BLOCK] = payload.pack(answers, self.width)
        return out

    def _respond(self, codes: Number, *, rng: Generator) -> Number:
        """Return an output for every value: one block of lanes; near and far ones are drawn for everybody."""
        group, level = np.divmod(codes, np.uint32(self.levels))
        first = group * np.uint32(self.row) + level
        near = first + small(self.window, codes.size, rng=rng)
        honest = truthful(self.truth, codes.size, rng=rng)
        far = small(self.outputs - self.window, codes.size, rng=rng)
        far += np.where(far >= first, np.uint32(self.window), np.uint32(0))  # skips the window
        return np.asarray(np.where(honest, near, far), dtype=np.uint32)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports hold no output."""
        return {"out of range": payload.unpack(payloads) >= self.outputs}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how often each output was reported, shape (outputs,)."""
        return payload.histogram(payloads, self.outputs)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the numbers of reports as what they are: the counts of all levels, seen through the window."""
        p, q, answers = float(self.near), float(self.far), tally.astype(np.float64)
        near = np.clip((answers - users * q) / (p - q), 0, users)
        variance = near * p * (1 - p) + (users - near) * q * (1 - q)
        return Measurement(map=self.map, answers=answers, variance=variance)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the reports of an output in whose window that share of the users is."""
        p, q = float(self.near), float(self.far)
        return users * (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q))

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(self.outputs, self.size)
        p, q = self.near, self.far
        rows = tuple(
            tuple(p if self._within(value, y) else q for y in range(self.outputs)) for value in range(self.size)
        )
        numbers = np.arange(self.outputs, dtype=np.uint32)
        return Channel(payloads=payload.pack(numbers, self.width), probabilities=rows)

    def _within(self, value: int, output: int) -> bool:
        """Return whether an output is in the window of a value, which goes on round a circle where there is one."""
        group, level = divmod(value, self.levels)
        return output // self.row == group and (output - level) % self.row < self.window


def informative_window(levels: int, groups: int, epsilon: float, *, circular: bool = False) -> int:
    """Return the window at which a report of even outputs would say most of the number.

    With w outputs in the window, T in all and e^epsilon q in it, q = 1 / (T + (e^epsilon - 1) w), the bound is
    ln(T q) + epsilon w e^epsilon q. On the unit interval without groups its maximum has the closed form of Li et al.
    2020, Section 5.3: w is 2 b of the width, b = (e e^e - e^e + 1) / (2 e^e (e^e - 1 - e)), e for epsilon. On a circle
    there are as many outputs as levels, all of them as likely where numbers lie evenly, and the bound is exact.

    >>> informative_window(1000, 1, 1.0), informative_window(1000, 1, 1.0, circular=True)
    (512, 339)
    """
    windows = np.arange(1, levels if circular else levels + 1)
    outputs, odds = groups * (levels if circular else levels + windows - 1), math.exp(-min(epsilon, LARGEST_EXPONENT))
    scaled = odds * outputs + (1 - odds) * windows  # 1 / q, less e^epsilon
    bound = np.log(odds * outputs / scaled) + epsilon * windows / scaled
    return int(windows[bound.argmax()])


def windows_of_means(levels: int, groups: int, epsilon: float, mean: float, spread: float) -> Array:
    """Return by window from 1 on what a report adds to the variance of a group's sum of (level - mean).

    That is G^2 times what it adds to the variance of N times the group's mean: the scores of users and of levels go
    together. With a = p - q, R outputs in a row, S their sum of squares about the middle one, a share 1 / G of the
    users in the group, it is (q S + q R (1 - q R) m^2 + a w (s + (w^2 - 1) / 12) / G) / (a w)^2, in levels squared. Of
    that s / G is the spread of the users' levels, which is there without any noise.

    Args:
        levels: of the number.
        groups: G.
        epsilon: of the report.
        mean: m, the group's, counted from the middle level.
        spread: s, the variance of the group's levels.
    """
    w = np.arange(1, levels + 1, dtype=np.float64)
    row, odds = levels + w - 1, math.exp(-min(epsilon, LARGEST_EXPONENT))
    q = odds / (odds * groups * row + (1 - odds) * w)
    near = w * q * (1 / odds - 1)  # a w
    whole, outside = row * (row**2 - 1) / 12, q * row
    held = near * (spread + (w**2 - 1) / 12) / groups
    return np.asarray((q * whole + outside * (1 - outside) * mean**2 + held) / near**2)


CARD = Card(
    name="square_wave",
    family="numbers",
    model="local",
    paper="local: square wave (Li et al. 2020)",
    summary="Reports a number near the own one, or any other: means, variances and the whole distribution by EM.",
    method=SquareWave,
    example=lambda loss, _: SquareWave(levels=5, loss=pure(loss, REFUSAL), groups=2),
)
