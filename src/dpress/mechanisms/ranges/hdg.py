"""`hdg`: every user reports a tile of one attribute's grid, or of one pair's; least squares over all grids.

cells -> tile of the drawn grid -> oracle -> tallies -> counts of every grid's tiles -> consistent tables of all cells.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import pure
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Places
from dpress.core.methods.mechanism import Card
from dpress.core.reports.encoders import Tile
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.joint.pair_tables import Noise, NoisyTable, Tables
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import Part, ReportType, largest, per_user, rest
from dpress.mechanisms.protocol.short_reports import short_oracle
from dpress.mechanisms.protocol.sum_form import SumForm, sum_form
from dpress.mechanisms.ranges.axis_tiles import AxisTiles
from dpress.mechanisms.ranges.grid_counts import GridCounts
from dpress.mechanisms.ranges.grid_error import Axes, GridError, sets_of
from dpress.mechanisms.ranges.level_tree import level_variance

LEAST = 1e-9  # variance of a tile, in counts squared, where there is one alone, which is known


@dataclass(frozen=True, kw_only=True)
class Hdg(Estimator):
    """One grid for every ordered attribute and a coarser one for every pair, each asked of its own users (HDG).

    Promise: pure epsilon between any two values, local model, that of the grid's oracle; the grid is drawn without
        the values. Proven.
    Error: the tiles of a pair's grid are unions of those of its attributes' own grids, so that all grids tell of the
        same coarse tiles. What an attribute's coarse tiles differ by is the inverse-variance mean over all grids that
        hold it, with the variances of even shares; what its fine tiles differ by within a coarse one, and what a pair's
        tiles say beyond their sums, one grid tells. An answer about one attribute, or about whole coarse tiles of two,
        is a linear form sum_t U_t y_t of the grids' counts and everybody's known number, right on average, with the
        variance sum_t of U_t's weighted sum (`sum_form.sum_form`: exact noise for the shares as estimated). A box
        that cuts coarse tiles takes the shares that the fine tiles of both attributes have there; U_t are then the
        derivatives (the delta method: asymptotic). Apart from that: within a fine tile people are taken as evenly
        spread over its cells, within a pair's tile as independent of each other; that error is in no variance.
    Paper: Yang, Wang, Li, Cheng, Su 2020 (HDG), with least squares in the place of its averages, and the best
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

    def tile_starts(self, axes: Sequence[int]) -> list[Places]:
        """Return the first cell of every tile along the attributes of a table, and after them the number of cells."""
        return [self.axes[axis].starts if len(axes) == 1 else self.axes[axis].coarse_starts for axis in axes]

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked, grid by grid."""
        types = []
        for axes, tiles, oracle, weight in zip(self.tables, self.tiles, self.oracles, self.weights, strict=True):
            encoder = Tile(sizes=tuple(self.shape[axis] for axis in axes), tiles=tiles)
            types.append(ReportType(parts=(Part(axes=axes, oracle=oracle, encoder=encoder),), weight=weight))
        return tuple(types)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated table of every attribute and pair; see `grid_counts.GridCounts.variances`.

        Raises:
            ValueError: nobody reported about a grid.
        """
        counts = self.counts(tallies)
        tables, variances = (list(map(of, self.tables)) for of in (counts.table, counts.variances))
        return stacked(self.shape, self.tables, tables, variances)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about one or two attributes are answered."""
        return SeparateTables(self.shape, self.tables, users)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of a table's cells, in counts squared; see the class."""
        counts, forms = self.counts(tallies), self.sum_forms(tallies)

        def variance(weights: Sequence[Array]) -> float:
            axes = tuple(axis for axis, values in enumerate(weights) if not np.all(values == 1))
            pairs = counts.weights(axes, [weights[axis] for axis in axes])
            return math.fsum(forms[place].variance(grid_weights) for place, grid_weights in pairs)

        return variance

    def sum_forms(self, tallies: Sequence[Tally]) -> list[SumForm]:
        """Return for every grid what gives the variance of a weighted sum of its tiles."""
        everybody, pairs = sum(int(tally[-1]) for tally in tallies), zip(self.types, tallies, strict=True)
        return [
            sum_form(report_type.oracles[0], report_type.measured(tally)[0], int(tally[-1]), everybody)
            for report_type, tally in pairs
        ]

    def counts(self, tallies: Sequence[Tally]) -> GridCounts:
        """Return the counts of all grids, made consistent.

        Raises:
            ValueError: nobody reported about a grid.
        """
        everybody, counts = sum(int(tally[-1]) for tally in tallies), []
        error = self._error(tallies)
        for report_type, tiles, tally in zip(self.types, self.tiles, tallies, strict=True):
            (measured,) = report_type.measured(tally)
            counts.append(measured.answers.reshape(tiles) * (everybody / int(tally[-1])))
        return GridCounts(error=error, counts=tuple(counts), users=everybody)

    def coarse_tables(self, tallies: Sequence[Tally]) -> Tables:
        """Return the shares of the coarse tiles, by every grid as it was reported.

        Noise: a coarse tile of an attribute's own grid is a sum of k fine ones; with v and u what a user within and
        outside a fine tile adds to its variance, that is v + (k - 1) u within, and k u outside.
        """
        counts, noisy = self.counts(tallies), []
        for place, (axes, oracle, tally) in enumerate(zip(self.tables, self.oracles, tallies, strict=True)):
            users, each = int(tally[-1]), self.axes[axes[0]].each if len(axes) == 1 else 1
            of_holder, of_others = per_user(oracle, 1.0), per_user(oracle, 0.0)
            held, sampling = of_holder + (each - 1) * of_others, rest(counts.users, users)
            noise = Noise(users=users, held=held, other=each * of_others, sampling=sampling)
            shares = counts.counts[place] / counts.users
            shares = self.axes[axes[0]].families(shares).sum(axis=1) if len(axes) == 1 else shares
            noisy.append(NoisyTable(axes=axes, shares=shares, noise=noise))
        return Tables(shape=self.coarse, noisy=tuple(noisy))

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all tables, for even shares."""
        error = self.planned(users)
        even = tuple(np.full(tiles, users / math.prod(tiles)) for tiles in self.tiles)
        counts = GridCounts(error=error, counts=even, users=users)
        return float(np.concatenate([counts.variances(axes) for axes in self.tables]).mean())

    def planned(self, users: int) -> GridError:
        """Return the error that is predicted for so many users, for even shares."""
        users_of_grids = [users * weight / sum(self.weights) for weight in self.weights]
        return self._error_of(users_of_grids, users)

    def unanswered(self, tallies: Sequence[Tally]) -> list[Axes]:
        """Return the attributes of the grids that nobody reported about."""
        return [axes for axes, tally in zip(self.tables, tallies, strict=True) if not tally[-1]]

    def _error(self, tallies: Sequence[Tally]) -> GridError:
        users = [int(tally[-1]) for tally in tallies]
        if missing := self.unanswered(tallies):
            raise ValueError(f"no report is about the grid of attributes {list(missing[0])}")
        return self._error_of(users, sum(users))

    def _error_of(self, users_of_grids: Sequence[float], users: int) -> GridError:
        pairs = list(zip(self.oracles, users_of_grids, strict=True))
        each = {pair: max(LEAST, users**2 / pair[1] * level_variance(pair[0], users, pair[1])) for pair in set(pairs)}
        return GridError(axes=self.axes, variances=tuple(each[pair] for pair in pairs))


def _example(loss: Loss) -> Hdg:
    loss = pure(loss, "reports of tiles are calibrated to epsilon")
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
