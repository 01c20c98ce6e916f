"""`piecewise`: the reports of `square_wave` with the window that suits means.

level -> a uniform output of the window around it with probability P, else one outside -> sums of the levels.
"""

from dataclasses import dataclass

from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.numbers.square_wave import REFUSAL, SquareWave, windows_of_means

EVEN = 1 / 3  # the variance of numbers that lie evenly, in half widths


@dataclass(frozen=True, slots=True, kw_only=True)
class Piecewise(SquareWave):
    """A number near the own one, for its mean.

    Promise, reports: those of `SquareWave`.
    Error: see `square_wave.windows_of_means`.
    Paper: Wang et al. 2019, piecewise mechanism: in the limit of many levels its reports are those of a window of
        (C - 1) / (C + 1) of the levels, C = (e^(epsilon / 2) + 1) / (e^(epsilon / 2) - 1); the window with the least
        variance is near it and depends on where the numbers lie.
    """


def best_window(levels: int, groups: int, epsilon: float, mean: float = 0.0, spread: float = EVEN) -> int:
    """Return the window with the least variance of a group's mean.

    Args:
        levels: of the number.
        groups: of users, evenly many.
        epsilon: of a report.
        mean: of the numbers, from the middle of their bounds, in half widths.
        spread: their variance, in half widths squared.

    >>> best_window(1000, 1, 1.0)
    697
    """
    half = (levels - 1) / 2
    return int(windows_of_means(levels, groups, epsilon, mean * half, spread * half**2).argmin()) + 1


def _example(loss: Loss) -> Piecewise:
    loss = pure(loss, REFUSAL)
    return Piecewise(levels=6, loss=loss, window=best_window(6, 1, float(loss.epsilon)))


CARD = Card(
    name="piecewise",
    family="numbers",
    model="local",
    paper="local: piecewise mechanism (Wang et al. 2019)",
    summary="Reports a number near the own one, with the window of least variance: best for means.",
    method=Piecewise,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
