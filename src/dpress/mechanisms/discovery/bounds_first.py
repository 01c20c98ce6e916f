"""What every method has in common that finds bounds of attributes first, and then measures groups between them."""

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Draw, Drawn
from dpress.core.methods.table_sums import Edges, Found, Integers, Rows
from dpress.mechanisms.discovery.second_step import SecondStep
from dpress.mechanisms.linear.group_statistics import GroupStatistics
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise import choose

ROOT = 1 << 40  # steps of epsilon under rho


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenBounds:
    """Bounds of one attribute that were drawn.

    Args:
        ends: the lower and the upper one.
        rows: noisy numbers of rows inside and outside of the interval that was chosen; None where none were drawn.
    """

    ends: tuple[float, float]
    rows: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is known of the rows outside of bounds that were chosen.

    Args:
        most: what their number exceeds with a chance of 5 %; None where nothing is known of it.
        rows: about how many rows there are.
        stated: whether the stated bounds were kept, as too few rows were inside of narrower ones.
    """

    most: int | None
    rows: int
    stated: bool = False


UNKNOWN = Outside(most=None, rows=0)
STATED = Outside(most=0, rows=0, stated=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A choice with probability proportional to exp(rate score).

    Args:
        rate: the log ratio of two candidates whose scores differ by 1.
        scores: of all candidates.
    """

    rate: Fraction
    scores: Integers

    def drawn(self, rng: Generator) -> int:
        """Return the place of the candidate that is chosen, exactly."""
        return choose.exponential(2 * self.scores, epsilon=self.rate, sensitivity=1, rng=rng)


class BoundsFirst(SecondStep):
    """Bounds of some attributes are chosen among public numbers, then groups are measured of values clamped to them.

    The second step has as many levels whatever the bounds, so that its loss is the same for all of them, and the
    losses of both steps add up (adaptive composition).
    """

    __slots__ = ()
    axes: tuple[int, ...]

    @property
    def first(self) -> Loss:
        """The loss of the first step, by the numbers that the samplers use: of all attributes together."""
        raise NotImplementedError

    @property
    def done(self) -> bool:
        """Whether it states what a release found, so that its design cannot be published again."""
        return False

    @property
    def outside(self) -> tuple[Outside, ...]:
        """What is known of the rows outside of the bounds that were chosen, by axis: nothing where none are counted."""
        return (UNKNOWN,) * len(self.axes)

    @property
    def fewest(self) -> int:
        """How many rows are enough to find bounds."""
        raise NotImplementedError

    @property
    def described(self) -> str:
        """How bounds are chosen, as the end of a plan's sentence."""
        raise NotImplementedError

    def prepare(self, rows: Rows) -> Draw:
        """Return what draws the bounds and the noise of the sums; see `CuratorMechanism`.

        Rows are read twice before anything is charged, and once more when bounds are drawn.

        Raises:
            NotSupported: it states what a release found.
        """
        if self.done:
            raise NotSupported(
                "the design states bounds that a release found; publish the one it was made by, or its specification"
            )
        between = rows.between(self.axes, self.edges)
        self.counted(rows)

        def draw(rng: Generator) -> Drawn:
            chosen = {axis: self.bounds(counts, edges, rng=rng) for axis, (edges, counts) in between.items()}
            discovered = Found(bounds={axis: bounds.ends for axis, bounds in chosen.items()})
            completed = rows.completed(discovered)
            mechanism = self.completed(tuple(bounds.rows for bounds in chosen.values() if bounds.rows is not None))
            noisy = mechanism.groups.noisy(mechanism.counted(completed), rng=rng)
            return Drawn(output=noisy, found=discovered, mechanism=mechanism)

        return draw

    def edges(self, low: float, high: float) -> tuple[float, ...]:
        """Return the numbers between which rows are counted, from the lowest to the highest that a bound may be."""
        raise NotImplementedError

    def bounds(self, counts: Integers, edges: Edges, *, rng: Generator) -> ChosenBounds:
        """Return bounds of one attribute.

        Args:
            counts: exact numbers of all rows between each two edges, shape (n - 1,).
            edges: increasing, shape (n,).
            rng: a secure generator.
        """
        raise NotImplementedError

    def choices(self, counts: Integers, edges: Edges) -> tuple[tuple[Scored, ...], ...]:
        """Return what is chosen one after the other: of each the choice by every outcome of the one before it."""
        raise NotImplementedError

    def for_few_rows(self) -> "BoundsFirst":
        """Return the mechanism with the same promise that looks for bounds of a handful of rows."""
        return self

    @property
    def noise(self) -> Any:
        """What is added to the numbers of rows inside and outside; None where these are not counted."""
        return None

    def completed(self, rows: tuple[tuple[int, int], ...]) -> "BoundsFirst":
        """Return the mechanism that knows how many rows are inside and outside; itself, where none are counted."""
        del rows
        return self


def check_axes(groups: MatrixMechanism, axes: Collection[int]) -> None:
    """Refuse axes that are not those of measured attributes, in their order."""
    if not isinstance(groups.strategy, GroupStatistics):
        raise TypeError(f"{type(groups.strategy).__name__} measures no groups")
    possible = set(range(len(groups.strategy.shape))) - set(groups.strategy.by)
    if not axes or list(axes) != sorted(possible & {*axes}):
        raise ValueError(f"axes must be increasing, and of attributes that make no groups, got {axes}")


def range_of(loss: Loss) -> Fraction:
    """Return the range of log ratios that a choice may have that costs at most this."""
    return loss.choice_range(1, ROOT)


def spent_by(choice: Loss) -> Loss:
    """Return what a choice of the range `range_of(choice)` costs: a little less than the loss under rho."""
    return choice.of(choice.choice_cost(range_of(choice)))
