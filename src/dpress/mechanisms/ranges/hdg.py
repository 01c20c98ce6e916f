"""`hdg`: every user reports a tile of one attribute's grid, or of one pair's; least squares over all grids.

cells -> tile of the drawn grid -> oracle -> tallies -> counts of every grid's tiles -> consistent tables of all cells.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.claim import Claim, PureDP
from dpress.core.encoders import Tile
from dpress.core.errors import NotSupported
from dpress.core.linear import Array
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.oracle import Oracle, Tally
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.protocol.one_way import sum_variance
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest
from dpress.mechanisms.protocol.short_reports import short_oracle
from dpress.mechanisms.ranges.axis_tiles import AxisTiles, TileWeights
from dpress.mechanisms.ranges.level_tree import level_variance

Axes = tuple[int, ...]


def sets_of(attributes: int) -> tuple[Axes, ...]:
    """Return what grids are about: every attribute, then every pair."""
    return tuple((*itertools.combinations(range(attributes), 1), *itertools.combinations(range(attributes), 2)))


@dataclass(frozen=True, kw_only=True)
class Hdg:
    """One grid for every ordered attribute and a coarser one for every pair, each asked of its own users (HDG).

    Promise: pure epsilon between any two values, local model, that of the grid's oracle; the grid is drawn without
        the values. Proven.
    Error: the tiles of a pair's grid are unions of those of its attributes' own grids, so that all grids tell of the
        same coarse tiles. What an attribute's coarse tiles differ by is the inverse-variance mean over all grids that
        hold it, with the variances of even shares; what its fine tiles differ by within a coarse one, and what a pair's
        tiles say beyond their sums, one grid tells. So every answer about one or two attributes is a linear form
        sum_t U_t y_t of the grids' counts and a known part of everybody's number, right on average for tiles, with
        the variance sum_t of U_t's weighted sum (`one_way.sum_variance`). Within a tile people are taken as evenly
        spread over its cells: that error is not in the variance.
    Paper: Yang, Wang, Zhang, Li, Xu, Wang 2020 (HDG), with least squares in the place of its averages, and the best
        oracle; ranges, "What dpress adds".

    Args:
        shape: the number of cells of every attribute, two at least.
        coarse: how many tiles pairs' grids have along every attribute.
        fine: how many tiles every attribute's own grid has, multiples of these.
        oracles: over the tiles of every grid, those of `sets_of` in their order.
        weights: the sampling weights of the grids.
    """

    shape: Axes
    coarse: Axes
    fine: Axes
    oracles: tuple[Oracle, ...]
    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.shape) < 2 or not len(self.shape) == len(self.coarse) == len(self.fine):
            raise ValueError("grids are over two attributes at least, with coarse and fine tiles of each")
        if tuple(oracle.size for oracle in self.oracles) != tuple(map(math.prod, self.tiles)):
            raise ValueError("oracles: expected one for every grid, over its tiles")
        if len(self.weights) != len(self.oracles):
            raise ValueError("weights: expected one for every grid")

    @property
    def claim(self) -> Claim:
        """The promise of one report: the largest of the oracles'."""
        return largest([oracle.claim for oracle in self.oracles])

    @property
    def tables(self) -> tuple[Axes, ...]:
        """What is published: a table of cells for every attribute and every pair."""
        return sets_of(len(self.shape))

    @property
    def tiles(self) -> tuple[Axes, ...]:
        """The number of tiles along every attribute of every grid."""
        return tuple(
            tuple((self.fine if len(axes) == 1 else self.coarse)[axis] for axis in axes) for axes in self.tables
        )

    @cached_property
    def axes(self) -> tuple[AxisTiles, ...]:
        """The tiles of every attribute."""
        triples = zip(self.shape, self.coarse, self.fine, strict=True)
        return tuple(AxisTiles(cells=cells, coarse=coarse, fine=fine) for cells, coarse, fine in triples)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked, grid by grid."""
        found = []
        for axes, tiles, oracle, weight in zip(self.tables, self.tiles, self.oracles, self.weights, strict=True):
            own = Tile(sizes=tuple(self.shape[axis] for axis in axes), tiles=tiles)
            found.append(ReportType(parts=(Part(axes=axes, oracle=oracle, encoder=own),), weight=weight))
        return tuple(found)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated table of every attribute and pair, each cell with the variance of even shares.

        Raises:
            ValueError: nobody reported about a grid.
        """
        everybody, error = _everybody(tallies), self._error(tallies)
        counts = self._counts(tallies)
        tables = [self._table(axes, counts, everybody, error) for axes in self.tables]
        return stacked(self.shape, self.tables, tables, [error.of_cells(axes) for axes in self.tables])

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about one or two attributes are answered."""
        return SeparateTables(self.shape, self.tables, users)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of a table's cells, in counts squared; see the class."""
        everybody, error = _everybody(tallies), self._error(tallies)
        measured = [own.measured(tally)[0] for own, tally in zip(self.types, tallies, strict=True)]

        def variance(weights: Sequence[Array]) -> float:
            total = 0.0
            for place, own in self._form(weights, error):
                total += sum_variance(self.oracles[place], measured[place], int(tallies[place][-1]), own, everybody)
            return total

        return variance

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all tables, for even shares."""
        error = self.planned(users)
        return float(np.concatenate([error.of_cells(axes) for axes in self.tables]).mean())

    def planned(self, users: int) -> "GridError":
        """Return the error that is predicted for so many users, for even shares."""
        asked = [users * weight / sum(self.weights) for weight in self.weights]
        return self._error_of(asked, users)

    def _error(self, tallies: Sequence[Tally]) -> "GridError":
        asked = [int(tally[-1]) for tally in tallies]
        if missing := [axes for axes, users in zip(self.tables, asked, strict=True) if not users]:
            raise ValueError(f"no report is about the grid of attributes {list(missing[0])}")
        return self._error_of(asked, sum(asked))

    def _error_of(self, asked: Sequence[float], users: int) -> "GridError":
        pairs = zip(self.oracles, asked, strict=True)
        return GridError(
            axes=self.axes,
            variances=tuple(users**2 / n * level_variance(oracle, users, n) for oracle, n in pairs),
        )

    def _counts(self, tallies: Sequence[Tally]) -> list[Array]:
        """Return the estimated counts of every grid's tiles, of all users, in its shape."""
        everybody, found = _everybody(tallies), []
        for own, tiles, tally in zip(self.types, self.tiles, tallies, strict=True):
            (measured,) = own.measured(tally)
            found.append(measured.answers.reshape(tiles) * (everybody / int(tally[-1])))
        return found

    def _coarse(self, axis: int, counts: Sequence[Array], error: "GridError") -> Array:
        """Return by how much the coarse tiles of an attribute differ from their mean."""
        total = np.zeros(self.coarse[axis])
        for place, trust in error.trusts(axis):
            own = counts[place]
            other = 1 - self.tables[place].index(axis)
            sums = own.reshape(self.coarse[axis], -1).sum(axis=1) if own.ndim == 1 else own.sum(axis=other)
            total += trust * (sums - sums.mean())
        return total

    def _table(self, axes: Axes, counts: Sequence[Array], users: int, error: "GridError") -> Array:
        """Return the counts of all cells of one or two attributes, flat."""
        fine = [self._fine(axis, counts, users, error) for axis in axes]
        if len(axes) == 1:
            (own,) = axes
            return np.asarray((fine[0] / self.axes[own].widths)[self.axes[own].fine_of])
        first, second = (self.axes[axis] for axis in axes)
        pair = counts[self.tables.index(axes)]
        pair = pair - pair.mean(axis=0) - pair.mean(axis=1, keepdims=True) + pair.mean()
        rows, columns = (self._coarse(axis, counts, error) for axis in axes)
        pair += rows[:, None] / second.coarse + columns / first.coarse + users / pair.size
        pair /= np.multiply.outer(first.coarse_widths, second.coarse_widths)
        beyond = []  # what the fine tiles' cells hold beyond an even spread over the coarse tile
        for own, held in zip((first, second), fine, strict=True):
            even = held.reshape(own.coarse, -1).sum(axis=1) / own.coarse_widths
            beyond.append((held / own.widths)[own.fine_of] - even[own.coarse_of])
        cells = pair[np.ix_(first.coarse_of, second.coarse_of)]
        return np.asarray(cells + beyond[0][:, None] / second.cells + beyond[1] / first.cells).ravel()

    def _fine(self, axis: int, counts: Sequence[Array], users: int, error: "GridError") -> Array:
        """Return the counts of an attribute's fine tiles."""
        own, held = self.axes[axis], counts[axis]
        families = held.reshape(own.coarse, own.each)
        coarse = self._coarse(axis, counts, error) + users / own.coarse
        return np.asarray(families - families.mean(axis=1, keepdims=True) + coarse[:, None] / own.each).ravel()

    def _form(self, weights: Sequence[Array], error: "GridError") -> Iterator[tuple[int, Array]]:
        """Yield the grids that a query is answered from, with what it weighs in each, flat: U_t of the class."""
        asked = tuple(axis for axis, own in enumerate(weights) if not np.all(own == 1))
        found = {place: np.zeros(tiles) for place, tiles in enumerate(self.tiles)}
        means = {axis: self.axes[axis].fine_means(weights[axis]) for axis in asked}
        for axis in asked:
            own, fine = self.axes[axis], means[axis]
            others = [one for one in asked if one != axis]
            mean = math.prod(float(weights[one].mean()) for one in others)
            even = math.prod(float(self.axes[one].coarse_means(means[one]).mean()) for one in others)
            a, c = own.coarse_means(fine), own.family_means(fine)
            differ = (even - mean) * a + mean * c
            differ = differ - differ.mean()
            found[axis] += mean * (fine - np.repeat(c, own.each))
            for place, trust in error.trusts(axis):
                spread = differ if found[place].ndim == 1 else differ.reshape(_upright(self.tables[place], axis))
                found[place] += trust * (np.repeat(spread, own.each) if found[place].ndim == 1 else spread)
        if len(asked) == 2:
            first, second = (self.axes[axis].coarse_means(means[axis]) for axis in asked)
            found[self.tables.index(asked)] += np.multiply.outer(first - first.mean(), second - second.mean())
        yield from ((place, own.ravel()) for place, own in found.items() if own.any())


def _upright(axes: Axes, axis: int) -> Axes:
    """Return the shape of what runs along one axis of a pair's grid."""
    return (-1, 1) if axes.index(axis) == 0 else (1, -1)


def _everybody(tallies: Sequence[Tally]) -> int:
    return sum(int(tally[-1]) for tally in tallies)


@dataclass(frozen=True, kw_only=True)
class GridError:
    """What the answers from grids err, by the variance of a tile of every grid.

    Args:
        axes: the tiles of every attribute.
        variances: of a tile of every grid of `sets_of`, in counts squared.
    """

    axes: tuple[AxisTiles, ...]
    variances: tuple[float, ...]

    @cached_property
    def _sums(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """For every attribute the grids that hold it, with the variance of their sums over a coarse tile."""
        found: list[list[tuple[int, float]]] = [[] for _ in self.axes]
        for place, axes in enumerate(sets_of(len(self.axes))):
            for axis in axes:
                others = [self.axes[one].coarse for one in axes if one != axis]
                each = others[0] if others else self.axes[axis].each
                found[axis].append((place, self.variances[place] * each))
        return tuple(map(tuple, found))

    def trusts(self, axis: int) -> list[tuple[int, float]]:
        """Return the grids that hold an attribute, with their weight in the mean of its coarse tiles."""
        return [(place, self.coarse(axis) / spread) for place, spread in self._sums[axis]]

    def coarse(self, axis: int) -> float:
        """Return the variance of that mean: one by the sum of the grids' precisions."""
        return 1 / sum(1 / spread for _, spread in self._sums[axis])

    def of(self, axes: Axes, asked: Sequence[TileWeights]) -> Array:
        """Return the variance of the answers to queries about one or two attributes, in counts squared.

        Formula: for every attribute L |(e - m) a + m c|^2 + v m^2 sum (g - c)^2, L of `coarse`, v of its own grid's
        tile, e and m the other attribute's `even` and `mean` (1 without one); and w |a|^2 |a'|^2, w of the pair's tile.
        """
        total: Array = np.zeros(())
        for place, (axis, own) in enumerate(zip(axes, asked, strict=True)):
            other = asked[1 - place] if len(axes) == 2 else None
            even, mean = (other.even, other.mean) if other is not None else (np.ones(1), np.ones(1))
            differ = (even - mean) ** 2 * own.coarse + mean**2 * own.fine + 2 * (even - mean) * mean * own.both
            total = total + self.coarse(axis) * differ + self.variances[axis] * mean**2 * own.inner
        if len(axes) == 2:
            total = total + self.variances[sets_of(len(self.axes)).index(axes)] * asked[0].coarse * asked[1].coarse
        return np.asarray(total)

    def of_cells(self, axes: Axes) -> Array:
        """Return the variance of every cell of a table, flat."""
        own = [self.axes[axis].cell_weights for axis in axes]
        return self.of(axes, own if len(own) == 1 else [own[0].at(np.s_[:, None]), own[1].at(np.s_[None])]).ravel()


def _example(loss: object) -> Hdg:
    if not isinstance(loss, PureDP):
        raise NotSupported("reports of tiles are calibrated to epsilon")
    oracles = tuple(short_oracle(size, loss) for size in (4, 2, 4))
    return Hdg(shape=(5, 3), coarse=(2, 2), fine=(4, 2), oracles=oracles, weights=(1, 1, 2))


CARD = Card(
    name="hdg",
    family="ranges",
    model="local",
    paper="ranges: What dpress adds (HDG of Yang et al. 2020)",
    summary="Grids over ordered attributes and their pairs, one grid a user, made consistent by least squares.",
    method=Hdg,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
