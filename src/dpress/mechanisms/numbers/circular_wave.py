"""`circular_wave`: the reports of `square_wave` on a circle, for numbers whose bounds meet, as hours of a day.

level -> a uniform output of the window that begins there and goes on round the circle with probability P, else a
uniform one outside -> circular moments, or all levels by EM.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpress.core.basics.losses.pure import pure
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.reports.payload import Number
from dpress.mechanisms.numbers.square_wave import REFUSAL, SquareWave
from dpress.noise.response import truthful
from dpress.noise.uniform import small


@dataclass(frozen=True, slots=True, kw_only=True)
class CircularWave(SquareWave):
    """What devices send of a number on a circle: as many outputs in a row as levels, windows that wrap round it.

    The window of level i are the outputs i, ..., i + window - 1, modulo the levels, of the own group's row.

    Promise: pure epsilon between any two values, local model. An output in the window has probability p, any other one
        q, p / q <= e^epsilon. Proven.
    Error: the circular moments are unbiased with the exact variance of `scores`; see `inference.numbers.directions`.
    Paper: Li et al. 2020, square wave; the circle is ours.

    Args:
        levels: of the number, at least 3, at most 2^12.
        loss: epsilon.
        groups: 1 without groups.
        window: in outputs, at least 1, below the levels; 0, left out, stands for the one at which the bound of the
            mutual information is largest.
        truth: P(a report lies in the window); left out, the largest that epsilon allows.

    >>> from dpress.core.basics.losses.pure import PureDP
    >>> oracle = CircularWave(levels=24, loss=PureDP(epsilon=1))
    >>> oracle.window, oracle.outputs
    (8, 24)
    """

    circular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.levels < 3:
            raise ValueError(f"levels must be at least 3 on a circle, got levels={self.levels}")
        if self.window >= self.levels:
            raise ValueError(f"window must be below the levels, {self.levels}, got window={self.window}")
        SquareWave.__post_init__(self)

    @property
    def row(self) -> int:
        """The number of outputs of one group."""
        return self.levels

    def _respond(self, codes: Number, *, rng: Generator) -> Number:
        """Return an output for every value: one block of lanes; near and far ones are drawn for everybody."""
        row, rest = np.uint32(self.row), np.uint32(self.row - self.window)
        group, level = np.divmod(codes, row)
        first = group * row
        near = (level + small(self.window, codes.size, rng=rng)) % row
        honest = truthful(self.truth, codes.size, rng=rng)
        far = small(self.outputs - self.window, codes.size, rng=rng)
        beside = (level + np.uint32(self.window) + far) % row
        away = far - np.where(far >= rest, rest, far)
        away += np.where(away >= first, row, np.uint32(0))  # skips the own row
        other = np.where(far < rest, first + beside, away)
        return np.asarray(np.where(honest, first + near, other), dtype=np.uint32)


CARD = Card(
    name="circular_wave",
    family="numbers",
    model="local",
    paper="local: square wave (Li et al. 2020), on a circle",
    summary="Reports a number near the own one on a circle, or any other: circular means, and the distribution by EM.",
    method=CircularWave,
    example=lambda loss, _: CircularWave(levels=5, loss=pure(loss, REFUSAL), groups=2, window=2),
)
