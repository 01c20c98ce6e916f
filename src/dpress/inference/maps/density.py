"""How many people are where: estimated counts of a grid's cells, and the sum of any rectangle with its error.

counts of cells + what the noise does to sums of them -> rectangles -> values, variances.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dpress.core.basics.errors import NotSupported
from dpress.core.maps.grid import Grid, Rectangles, blocks, sums
from dpress.core.maps.linear import Array
from dpress.inference.interval import whole_counts

LEVELS = 3  # of quarters that `clustering` looks at
SPARE = 1.5  # by which `Wider` takes variances
WHOLE = 1 - 1e-9  # of a node: rounding took the rest
UNIT = Rectangles(*(np.array([end]) for end in (0.0, 1.0, 0.0, 1.0)))
Squares = TypeVar("Squares", float, npt.NDArray[np.float64])


class Noise(Protocol):
    """What is known of the error of sums over rectangles."""

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of the sum in each rectangle, in counts squared, shape (m,)."""
        ...

    def cells(self) -> Array:
        """Return that of every cell, an image of shape (side, side)."""
        ...


class Reach(Protocol):
    """Between which counts rectangles lie, wherever people are in what reports do not tell apart."""

    def ends(self, rectangles: Rectangles, critical: float) -> tuple[Array, Array]:
        """Return what every count is at least and at most, give or take so many standard errors, shape (m,)."""
        ...

    def cells(self, critical: float) -> tuple[Array, Array]:
        """Return that of every cell, images of shape (side, side)."""
        ...


class Density(Protocol):
    """An estimate of where people are."""

    @property
    def grid(self) -> Grid:
        """The cells."""
        ...

    @property
    def counts(self) -> Array:
        """The estimated counts of the cells, an image of shape (side, side)."""
        ...

    def values(self, rectangles: Rectangles) -> Array:
        """Return the estimated number of people in each rectangle, shape (m,)."""
        ...

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of these numbers, in counts squared."""
        ...

    def weighted(self, shares: Array) -> tuple[float, float]:
        """Return the sum of the cells of which an area has these shares, an image, and its mean squared error.

        Raises:
            NotSupported: the error is known of rectangles alone.
        """
        ...

    def cell_variances(self) -> Array:
        """Return that of every cell, an image of shape (side, side)."""
        ...

    @property
    def reach(self) -> Reach | None:
        """What intervals are by; None where they reach as far to both sides, by their errors."""
        ...

    @property
    def beside(self) -> "Density | None":
        """The unbiased counts of the same answers where no count is below 0; None where the counts are unbiased."""
        ...

    @property
    def clustered(self) -> float:
        """How much people cluster within a cell, from 0 to 1."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Counts of cells: people are taken to be spread evenly within a cell, so that a cut one counts by its area.

    Error: that of `noise`, and what a cut cell hides: with a share s of its area within, c people in it and the
    clustering k, c^2 k s (1 - s), as if cells were independent. People at one point have k = 1, evenly spread ones 0;
    it is read off the map itself (`clustering`) and supposes that people cluster within cells as cells do among theirs.

    Counts of which none is below 0 are biased and mostly nearer to the truth. How large the bias is nobody can tell
    from the answers, so what is stated of a rectangle is the unbiased sum `beside`, with its own exact error and what
    cut cells hide, as these counts show it.

    Args:
        grid: the cells.
        counts: an image of shape (side, side).
        noise: of sums over rectangles.
        clustered: k, from 0 to 1; 0 leaves the cut cells' part out.
        reach: what intervals are by, where the error says too little.
        beside: the unbiased counts, where `noise` is a likely error of these (`Replicates`), which holds where the map
            is near the truth.
    """

    grid: Grid
    counts: Array
    noise: Noise
    clustered: float = 0.0
    reach: Reach | None = None
    beside: "Cells | None" = None

    def values(self, rectangles: Rectangles) -> Array:
        """Return the sum over the cells in each rectangle, shape (m,)."""
        return sums(self.counts, rectangles)

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of these sums."""
        stated = self.noise if self.beside is None else self.beside
        return np.asarray(stated.variances(rectangles) + self.hidden(rectangles))

    def weighted(self, shares: Array) -> tuple[float, float]:
        """Return the sum of the cells of which an area has these shares, with the error of its noise and of its cuts.

        Raises:
            NotSupported: the error is simulated, and known of rectangles alone.
        """
        if self.reach is not None:
            raise NotSupported("how far off a count is this map knows of rectangles alone, not of other areas")
        stated: Any = (self if self.beside is None else self.beside).noise  # of a tree, or of reports
        hidden = self.clustered * float((self.counts**2 * (shares - shares**2)).sum())
        return float((self.counts * shares).sum()), stated.weighted(shares) + hidden

    def hidden(self, rectangles: Rectangles) -> Array:
        """Return the part of it that cut cells hide."""
        if not self.clustered:
            return np.zeros(len(rectangles.left))
        squares = self.counts**2
        energy = sums(squares, rectangles) - sums(squares, rectangles.squared())
        return np.asarray(self.clustered * np.maximum(energy, 0))

    def cell_variances(self) -> Array:
        """Return that of every cell."""
        return self.noise.cells() if self.beside is None else self.beside.cell_variances()


def ends(density: Density, rectangles: Rectangles, critical: float) -> tuple[Array, Array]:
    """Return the ends of the intervals of rectangles: as far to both sides, or by what reports tell apart."""
    if density.reach is not None:
        value, (low, high) = density.values(rectangles), density.reach.ends(rectangles, critical)
        return np.minimum(low, value), np.maximum(high, value)
    half = whole_counts(density.variances(rectangles), critical)
    centre = unbiased(density).values(rectangles)
    return centre - half, centre + half


def unbiased(density: Density) -> Density:
    """Return what the stated error is about: the unbiased counts where there are any beside the adjusted ones."""
    return density.beside or density


def likely(density: Density) -> Density:
    """Return the counts that are shown, with the error that they are likely to have."""
    return density if density.beside is None else replace(density, beside=None)  # type: ignore[type-var]  # `Cells`


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNoise:
    """Least squares over a quadtree whose levels have independent noise, the same for all nodes of a level. Exact.

    The tree's Gram matrix is diagonal on the differences between the children of one parent. With w the rectangle's
    share of every cell, A_l = sum over the nodes of level l of (sum of w in it)^2 / (cells in it) and v_k the
    variance of level k,

        Var = sum_l (A_l - A_(l-1)) / sum_(k >= l) (4^(h-k) / v_k),   A_(-1) = 0.

    A flat grid is a tree of which only the last level was measured: Var = v_h sum w^2.
    Error: exact, O(h) a rectangle.

    Args:
        grid: of side 2^h, or of any side with one level.
        levels: the variance of a node's noise, from the root to the cells; infinite where none was measured.
    """

    grid: Grid
    levels: tuple[float, ...]

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the variance of the sum in each rectangle."""
        return np.asarray(self._variance(lambda width: rectangles.squares(width) / width**2))

    def _variance(self, covered: Callable[[int], Squares]) -> Squares:
        """Return the variance from A_l, by the width of a node of level l."""
        height = len(self.levels) - 1
        precision = [4.0 ** (height - k) / v if v else np.inf for k, v in enumerate(self.levels)]
        before = covered(1 << height)
        total = before / sum(precision)
        for level in range(1, height + 1):
            area = covered(1 << (height - level))
            total += (area - before) / sum(precision[level:])
            before = area
        return total

    def weighted(self, shares: Array) -> float:
        """Return the variance of the sum of cells of which an area has these shares, an image: w in the formula."""
        return self._variance(lambda width: float((blocks(shares, width) ** 2).sum()) / width**2)

    def cells(self) -> Array:
        """Return the variance of a cell, the same for all."""
        return np.full((self.grid.side, self.grid.side), self.variances(UNIT)[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicates:
    """Estimates made again from a likely truth, with fresh noise of the known variance: a parametric bootstrap.

    For estimates that are no linear function of the answers. It sees what noise and correction do, bias included, were
    that the truth: asymptotic, with a relative error of the standard error of about 1 / sqrt(2 replicates).

    Args:
        deviations: of every replicate from the estimate it was simulated from, shape (replicates, side, side).
    """

    deviations: Array

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared deviation of the sum in each rectangle."""
        return np.asarray((sums(self.deviations, rectangles) ** 2).mean(axis=0))

    def cells(self) -> Array:
        """Return that of every cell."""
        return np.asarray((self.deviations**2).mean(axis=0))


@dataclass(frozen=True, kw_only=True, eq=False)
class Deferred:
    """Noise that takes seconds to simulate and that few ask for: made when it is first asked, and kept.

    Args:
        make: simulates it.
    """

    make: Callable[[], Noise]

    @functools.cached_property
    def made(self) -> Noise:
        """The noise."""
        return self.make()

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the mean squared error of the sum in each rectangle."""
        return self.made.variances(rectangles)

    def cells(self) -> Array:
        """Return that of every cell."""
        return self.made.cells()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wider:
    """Of two likely errors of every sum the larger one, and some more: neither guess need be near the truth.

    Approximate: with variances taken by 1.5, which is a choice, intervals of 95 % hold in simulations.

    Args:
        guess: were the truth as one guess has it.
        other: were it as another one has it.
    """

    guess: Noise
    other: Noise

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the larger mean squared error of the sum in each rectangle."""
        return SPARE * np.maximum(self.guess.variances(rectangles), self.other.variances(rectangles))

    def cells(self) -> Array:
        """Return that of every cell."""
        return SPARE * np.maximum(self.guess.cells(), self.other.cells())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """Counts of a quadtree's nodes that were not made consistent, answered from the top (TDT).

    A node within the rectangle counts as a whole, once; a cut cell by the share of its area. A level that was not
    measured is passed over.
    Error: that of `noise`.

    Args:
        grid: of side 2^h.
        images: the counts of every level, from the root; None where a level was not measured, which the last was.
        noise: of these sums.
    """

    grid: Grid
    images: Sequence[Array | None]
    noise: Noise
    reach: ClassVar[None] = None
    beside: ClassVar[None] = None
    clustered: ClassVar[float] = 0.0

    @property
    def counts(self) -> Array:
        """The cells' own counts."""
        return np.asarray(self.images[-1])

    def values(self, rectangles: Rectangles) -> Array:
        """Return the sum over the largest nodes within each rectangle."""
        total, height = np.zeros(len(rectangles.left)), len(self.images) - 1
        above: Rectangles | None = None
        for level, image in enumerate(self.images):
            if image is None:
                continue
            width = 1 << (height - level)
            within = rectangles if level == height else _within(rectangles, width)
            total += sums(image, within.scaled(1 / width))
            if above is not None:
                total -= sums(image, above.scaled(1 / width))
            above = _within(rectangles, width)
        return total

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the variance of that sum."""
        return self.noise.variances(rectangles)

    def weighted(self, shares: Array) -> tuple[float, float]:
        """Return the sum over the largest nodes within an area of these shares of the cells, and its variance."""
        total, height = 0.0, len(self.images) - 1
        above = np.zeros((1, 1))
        for level, image in enumerate(self.images):
            width = 1 << (height - level)
            share = blocks(shares, width) / width**2
            taken = share if level == height else (share > WHOLE).astype(np.float64)
            if level:
                above = above.repeat(2, axis=0).repeat(2, axis=1)
            if image is not None:
                total += float((image * (taken - above)).sum())
                above = taken
        noise: Any = self.noise
        return total, noise.weighted(shares)

    def cell_variances(self) -> Array:
        """Return the variance of every cell."""
        return self.noise.cells()


def clustering(counts: Array, *, levels: int = LEVELS) -> float:
    """Return how unevenly people are spread over the four quarters of a square, 1 for all in one, 0 for evenly.

    Formula: sum over squares of 2 x 2 cells of sum_q (c_q - c / 4)^2 over that of (3 / 4) c^2, the largest of the last
    levels; noise adds to it.

    Args:
        counts: of the cells, an image of shape (side, side).
        levels: how many.

    >>> clustering(np.array([[8.0, 0], [0, 0]])), clustering(np.ones((2, 2)))
    (1.0, 0.0)
    """
    largest, image = 0.0, counts
    for _ in range(levels):
        side = len(image) // 2
        if not side:
            break
        quarters = image[: 2 * side, : 2 * side].reshape(side, 2, side, 2)
        whole = quarters.sum(axis=(1, 3), keepdims=True)
        total = float((whole**2).sum())
        if total > 0:
            largest = max(largest, float(((quarters - whole / 4) ** 2).sum()) / (0.75 * total))
        image = whole[:, 0, :, 0]
    return min(1.0, largest)


def _within(rectangles: Rectangles, width: int) -> Rectangles:
    """Return the largest rectangles of whole cells of this width within; empty ones where there is no such cell."""
    left, bottom = (np.ceil(end / width) * width for end in (rectangles.left, rectangles.bottom))
    right, top = (np.floor(end / width) * width for end in (rectangles.right, rectangles.top))
    empty = (right <= left) | (top <= bottom)
    return Rectangles(left, np.where(empty, left, right), bottom, np.where(empty, bottom, top))
