"""How many tiles the grids of `hdg` have, and how often each is asked: the least predicted error over ranges.

ranges of every attribute -> tiles and weights that are tried -> noise for even shares + assumed spread -> the best.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from dpress.core.basics.losses.pure import PureDP
from dpress.core.maps.ranges import Ranges
from dpress.core.reports.oracle import Oracle
from dpress.mechanisms.protocol.short_reports import short_oracle
from dpress.mechanisms.ranges.axis_tiles import AxisTiles, TileWeights
from dpress.mechanisms.ranges.bell_shares import bell, hidden
from dpress.mechanisms.ranges.grid_error import Axes, sets_of
from dpress.mechanisms.ranges.hdg import Hdg

COARSE = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
FINE = (*COARSE, 96, 128, 192, 256, 384, 512, 768, 1024)
WEIGHTS = ((1, 4), (1, 2), (1, 1), (2, 1), (4, 1))  # of an attribute's own grid, and of a pair's
ALPHAS = (0.4, 0.03)
"""What a range is assumed to err by as people lie unevenly in tiles, a share of everybody times the tiles along an
attribute: of attributes' own grids, and along each side of pairs'. Yang et al. 2020 set 0.7 and 0.03 beside the noise
of all tiles of an attribute; the mean range holds a third of them, so that 0.7 / sqrt(3) balances like theirs."""


def best_grids(shape: Axes, loss: PureDP, sample: Sequence[Ranges], users: int) -> Hdg:
    """Return the grids with the least `range_error`.

    Args:
        shape: the number of cells of every attribute.
        loss: epsilon.
        sample: ranges of every attribute, the i-th of all together, as `range_error` takes them.
        users: how many will report.
    """
    oracle = functools.cache(lambda size: short_oracle(size, loss))
    weigh = functools.cache(lambda tiles, axis: tiles.weighed(tiles.of_ranges(sample[axis])))

    def made(coarse: int, fine: int, weights: tuple[int, int]) -> Hdg:
        return _grids(shape, (coarse, fine), weights, oracle)

    def error(grids: Hdg) -> float:
        return _error(grids, [weigh(axis, place) for place, axis in enumerate(grids.axes)], users)

    def tried(weights: tuple[int, int]) -> Hdg:
        pairs = [(coarse, fine) for coarse in COARSE for fine in FINE if fine >= coarse]
        candidates = {(grids.coarse, grids.fine): grids for grids in (made(*pair, weights) for pair in pairs)}
        return min(candidates.values(), key=error)

    first = tried((1, 1))
    again = [made(max(first.coarse), max(first.fine), weights) for weights in WEIGHTS]
    best = min(again, key=error)
    return min((tried((best.weights[0], best.weights[-1])), best), key=error)


def range_error(grids: Hdg, sample: Sequence[Ranges], users: int) -> float:
    """Return what grids are chosen by: the most that a range of one attribute or a box of two may well err, squared.

    Formula: the variance for even shares; and (a N / m)^2 for a range of an attribute in m tiles larger than cells,
    (sum over both attributes of b N / m)^2 for a box, a and b assumed by Yang et al. 2020, N everybody; the mean over
    all attributes and pairs. Tiles that are larger than such heaps as people make would hide them.

    Args:
        grids: that are asked about.
        sample: ranges of every attribute, whose i-th make the i-th box.
        users: N.
    """
    return _error(grids, _weighed(grids, sample), users)


def predicted_error(grids: Hdg, sample: Sequence[Ranges], users: int) -> float:
    """Return the mean squared error of a range or a box as it is to be expected, of people in a bell.

    Formula: as `range_error`, but a range errs by what the fine tiles that it cuts hide of a bell
    (`bell_shares.hidden`), and of a box nothing is hidden: the fine tiles of both attributes tell how people lie there.

    Args:
        grids: that are asked about.
        sample: ranges of every attribute, whose i-th make the i-th box.
        users: N.
    """
    cut = [
        float(np.mean(hidden(axis.starts, bell(axis.cells), ranges) ** 2))
        for axis, ranges in zip(grids.axes, sample, strict=True)
    ]
    return (math.fsum(_noise(grids, _weighed(grids, sample), users)) + users**2 * math.fsum(cut)) / len(grids.tables)


def _error(grids: Hdg, weighed: Sequence[TileWeights], users: int) -> float:
    spread = [(users * _spread([grids.axes[axis] for axis in axes])) ** 2 for axes in grids.tables]
    return math.fsum([*_noise(grids, weighed, users), *spread]) / len(spread)


def _weighed(grids: Hdg, sample: Sequence[Ranges]) -> list[TileWeights]:
    return [tiles.weighed(tiles.of_ranges(ranges)) for tiles, ranges in zip(grids.axes, sample, strict=True)]


def _noise(grids: Hdg, weighed: Sequence[TileWeights], users: int) -> list[float]:
    """Return the mean variance of the ranges or boxes of every table, for even shares."""
    planned = grids.planned(users)
    return [float(np.mean(planned.of(axes, [weighed[axis] for axis in axes]))) for axes in grids.tables]


def _spread(axes: Sequence[AxisTiles]) -> float:
    """Return what people who lie unevenly in tiles are assumed to make a range or a box err, in shares of all."""
    if len(axes) == 1:
        (tiles,) = axes
        return ALPHAS[0] / tiles.fine if tiles.fine < tiles.cells else 0.0
    return math.fsum(ALPHAS[1] / tiles.coarse for tiles in axes if tiles.coarse < tiles.cells)


def _grids(shape: Axes, tiles: tuple[int, int], weights: tuple[int, int], oracle: Callable[[int], Oracle]) -> Hdg:
    """Return grids with as many tiles as are wished for, or as many as an attribute has cells."""
    coarse = tuple(min(tiles[0], cells) for cells in shape)
    fine = tuple(number * max(1, min(tiles[1], cells) // number) for number, cells in zip(coarse, shape, strict=True))
    sets = sets_of(len(shape))
    sizes = [fine[axes[0]] if len(axes) == 1 else math.prod(coarse[axis] for axis in axes) for axes in sets]
    return Hdg(
        shape=shape,
        coarse=coarse,
        fine=fine,
        oracles=tuple(map(oracle, sizes)),
        weights=tuple(weights[len(axes) - 1] for axes in sets),
    )
