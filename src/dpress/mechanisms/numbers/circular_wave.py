"""`circular_wave`: the reports of `square_wave` on a circle, for numbers whose bounds meet, as hours of a day.

level -> a uniform output of the window that begins there and goes on round the circle with probability P, else a
uniform one outside -> circular moments, or all levels by EM.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel
from dpress.core.reports.payload import Number
from dpress.inference.numbers.sliding_window import SlidingWindow
from dpress.mechanisms.numbers.square_wave import SquareWave
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
        if self.window == 0:
            object.__setattr__(self, "window", circular_window(self.levels, self.groups, float(self.loss.epsilon)))
        if self.window >= self.levels:
            raise ValueError(f"window must be below the levels, {self.levels}, got window={self.window}")
        SquareWave.__post_init__(self)

    @property
    def row(self) -> int:
        """The number of outputs of one group."""
        return self.levels

    @property
    def map(self) -> SlidingWindow:
        """The expected reports of given counts: p and q are those that `perturb` uses."""
        return SlidingWindow(
            levels=self.levels, groups=self.groups, window=self.window, near=self.near, far=self.far, circular=True
        )

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

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        payload.check_channel(self.outputs, self.size)
        p, q, levels = self.near, self.far, self.levels
        rows = tuple(
            tuple(
                p if y // levels == value // levels and (y - value) % levels < self.window else q
                for y in range(self.outputs)
            )
            for value in range(self.size)
        )
        numbers = np.arange(self.outputs, dtype=np.uint32)
        return Channel(payloads=payload.pack(numbers, self.width), probabilities=rows)


def circular_window(levels: int, groups: int, epsilon: float) -> int:
    """Return the window at which a report of a number that lies evenly says most of it.

    All outputs are then as likely, and with T outputs, w of them in the window and e^epsilon q in it,
    q = 1 / (T + (e^epsilon - 1) w), a report says ln(T q) + epsilon w e^epsilon q of group and level: exact.

    >>> circular_window(1000, 1, 1.0)
    339
    """
    windows = np.arange(1, levels)
    outputs, odds = groups * levels, math.exp(-epsilon)
    scaled = odds * outputs + (1 - odds) * windows  # 1 / q, less e^epsilon
    held = np.log(odds * outputs / scaled) + epsilon * windows / scaled
    return int(windows[held.argmax()])


def _example(loss: Loss) -> CircularWave:
    """Return a tiny instance.

    Raises:
        NotSupported: the loss is no epsilon.
    """
    loss = pure(loss, "reports near a number are calibrated to epsilon")
    return CircularWave(levels=5, loss=loss, groups=2, window=2)


CARD = Card(
    name="circular_wave",
    family="numbers",
    model="local",
    paper="local: square wave (Li et al. 2020), on a circle",
    summary="Reports a number near the own one on a circle, or any other: circular means, and the distribution by EM.",
    method=CircularWave,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
