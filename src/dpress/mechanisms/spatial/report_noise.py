"""The error of rectangles from the counts of nodes: every node's own noise, weighed as the estimate weighs the node.

rectangle -> a weight for every node, constant on few blocks of nodes -> `SumForm` of the level -> variance.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.grid import Grid, Rectangles, blocks, running_totals
from dpress.core.maps.linear import Array, Numbers
from dpress.core.reports.oracle import Oracle
from dpress.inference.frequencies import SPARE
from dpress.inference.maps.top_down import on_simplex
from dpress.mechanisms.protocol.report_type import per_user, rest
from dpress.mechanisms.protocol.sum_form import SumForm, form_of_shares

BATCH = 1 << 20  # blocks of nodes at once
WHOLE = 1 - 1e-9  # of a block: rounding took the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A part of the weight of a node: a factor by what a rectangle takes of the block that holds the node.

    Args:
        factor: of the product over both axes.
        width: of the block, in cells.
        whole: whether a block that the rectangle cuts counts 0, and not the share of it that is taken.
    """

    factor: float
    width: int
    whole: bool = False

    def taken(self, places: Numbers, low: Array, high: Array) -> Array:
        """Return what is taken of the block that holds each place of one axis, shape (m, places)."""
        start = np.floor_divide(places, self.width) * self.width
        held = np.minimum(high[:, None], start + self.width) - np.maximum(low[:, None], start)
        share = np.clip(held / self.width, 0.0, 1.0)
        return np.asarray(np.floor(share) if self.whole else share)

    @property
    def of_cell(self) -> float:
        """The weight where the rectangle is one cell of the node's block."""
        return self.factor * (self.width == 1 if self.whole else self.width**-2)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Noisy:
    """The noise of the counts of equal squares.

    Args:
        form: what gives the variance of weighted sums of them, in the grid's order.
        spare: what is added to it, times the largest squared weight.
    """

    form: SumForm
    spare: float = 0.0

    def variance(self, weights: Array) -> float:
        """Return the variance of a weighted sum, with what is spare."""
        return self.form.variance(weights) + self.spare * float((weights**2).max())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """Counts of equal squares, and how an answer weighs them.

    Args:
        width: of a square, in cells.
        noisy: their noise.
        terms: whose sum is the weight; blocks of whole squares, the largest first.
    """

    width: int
    noisy: Noisy
    terms: tuple[Term, ...]

    @property
    def form(self) -> SumForm:
        """What gives the variance of weighted sums."""
        return self.noisy.form


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportNoise:
    """The variance of sum over layers of sum_v g_v y_v, y_v the count of a square and g_v its weight.

    Along an axis a weight changes only at the edges of the blocks that hold the rectangle's ends, so that the squares
    fall into at most (4 t - 1)^2 boxes of one weight, t terms: sums over boxes are differences of running totals.
    Error: exact where the forms are, as layers are answered by different users; what is spare comes on top.

    Args:
        grid: the cells.
        layers: independent of each other.
    """

    grid: Grid
    layers: tuple[Layer, ...]

    def variances(self, rectangles: Rectangles) -> Array:
        """Return the variance of the sum in each rectangle, shape (m,)."""
        sides = rectangles.left, rectangles.right, rectangles.bottom, rectangles.top
        total = np.zeros(len(rectangles.left))
        for layer in self.layers:
            images = _images(self.grid, layer)
            totals, batch = running_totals(images), max(1, BATCH // (4 * len(layer.terms)) ** 2)
            for start in range(0, len(total), batch):
                ends = (side[start : start + batch] for side in sides)
                total[start : start + batch] += _variances(self.grid, layer, totals, *ends)
        return np.maximum(total, 0.0)  # but for rounding it is

    def weighted(self, shares: Array) -> float:
        """Return the variance of the sum of cells of which an area has these shares, an image; exact as above."""
        return sum(layer.noisy.variance(_weights(layer, shares)) for layer in self.layers)

    def cells(self) -> Array:
        """Return the variance of every cell, an image of shape (side, side)."""
        total = np.zeros((self.grid.side, self.grid.side))
        for layer in self.layers:
            total += _of_cells(self.grid.side, layer, _images(self.grid, layer))
        return np.maximum(total, 0.0)


def from_least_squares(grid: Grid, levels: Sequence[float], counted: Sequence[Noisy | None]) -> ReportNoise:
    """Return the error of least squares over a quadtree that takes every level for as noisy as stated.

    With d_l one over sum_(k >= l) 4^(h - k) / v_k and P_l w the mean of the rectangle's shares over the nodes of level
    l, a node of level k weighs 4^(h - k) / v_k (d_k P_k w + sum_(l < k) (d_l - d_(l + 1)) P_l w).

    Args:
        grid: of side 2^h, or of any side with one level.
        levels: v, what the levels are weighed by, from the root to the cells; infinite where one was not measured.
        counted: the levels' counts, None where there are none or they are known.
    """
    height = len(levels) - 1
    precisions = [math.inf if v == 0 else 4.0 ** (height - k) / v for k, v in enumerate(levels)]
    spread = [1 / math.fsum(precisions[level:]) for level in range(height + 1)]
    layers = []
    for level, noisy in enumerate(counted):
        if noisy is not None:
            factors = [*(coarse - fine for coarse, fine in itertools.pairwise(spread[: level + 1])), spread[level]]
            terms = [
                Term(factor=precisions[level] * factor, width=1 << (height - at)) for at, factor in enumerate(factors)
            ]
            layers.append(Layer(width=1 << (height - level), noisy=noisy, terms=tuple(terms)))
    return ReportNoise(grid=grid, layers=tuple(layers))


def from_the_top(grid: Grid, counted: Sequence[Noisy | None]) -> ReportNoise:
    """Return the error of sums over the largest nodes within a rectangle; see `inference.maps.density.Nodes`.

    Args:
        grid: of side 2^h.
        counted: the levels' counts from the root, None where there are none.
    """
    height, layers = len(counted) - 1, list[Layer]()
    for level, noisy in enumerate(counted):
        if noisy is None:
            continue
        width = 1 << (height - level)
        above = [Term(factor=-1.0, width=layers[-1].width, whole=True)] if layers else []
        terms = (*above, Term(factor=1.0, width=width, whole=level < height))
        layers.append(Layer(width=width, noisy=noisy, terms=terms))
    return ReportNoise(grid=grid, layers=tuple(layers))


def noisy(oracle: Oracle, counts: Array, users: int, everybody: int) -> Noisy:
    """Return the noise of an oracle's counts as counts of everybody, those who answered being where they were found.

    None of them below 0, and all there are. With B what one person more in a square adds to its variance, 4 B^2 is
    added for the square that weighs most: an estimate that is low by chance has too small a variance, by B for each
    person, whatever squares those are in (Wilson 1927; see `inference.frequencies.counts`).

    Args:
        oracle: that was asked by.
        counts: how many of those who answered it finds in every square.
        users: who answered.
        everybody: who took part.
    """
    held = on_simplex(counts[None], np.array([float(users)]))[0]
    slope = per_user(oracle, 1.0) - per_user(oracle, 0.0) + rest(everybody, users)
    form = form_of_shares(oracle, held, users, everybody)
    return Noisy(form=form, spare=SPARE * (slope * everybody / users) ** 2)


def independent(variances: Array) -> Noisy:
    """Return the noise of independent counts with these variances."""
    return Noisy(form=SumForm(squares=variances, rows=np.zeros((0, variances.size)), between=np.zeros((0, 0))))


def _images(grid: Grid, layer: Layer) -> Array:
    """Return the squares and the rows of a form as images, shape (1 + r, side / width, side / width)."""
    return Grid(grid.side // layer.width).image(np.concatenate([layer.form.squares[None], layer.form.rows]))


def _variances(grid: Grid, layer: Layer, totals: Array, *ends: Array) -> Array:
    """Return what a layer adds, for a batch of rectangles: left, right, bottom and top."""
    (left, right, bottom, top), between = ends, layer.form.between
    across, up = _edges(grid, layer, left, right), _edges(grid, layer, bottom, top)
    weights = np.zeros((len(left), across.shape[1] - 1, up.shape[1] - 1))
    for term in layer.terms:
        rows, columns = term.taken(across[:, :-1], left, right), term.taken(up[:, :-1], bottom, top)
        weights += term.factor * rows[:, :, None] * columns[:, None, :]
    corners = totals[:, across[:, :, None] // layer.width, up[:, None, :] // layer.width]
    boxes = np.diff(np.diff(corners, axis=2), axis=3)
    sums = np.einsum("mij,rmij->rm", weights, boxes[1:])
    variances = np.einsum("mij,mij->m", weights**2, boxes[0]) + np.einsum("rm,rs,sm->m", sums, between, sums)
    if layer.noisy.spare:
        variances += layer.noisy.spare * (weights**2 * _held(across, up)).max(axis=(1, 2), initial=0.0)
    if layer.form.beyond is not None:
        for place in range(len(left)):
            every = _every(grid, layer, weights[place], across[place], up[place])
            variances[place] += layer.form.beyond(every)
    return np.asarray(variances)


def _weights(layer: Layer, shares: Array) -> Array:
    """Return how an area weighs every square of a layer, in the grid's order."""
    weights = np.zeros((len(shares) // layer.width,) * 2)
    for term in layer.terms:
        taken = blocks(shares, term.width) / term.width**2
        taken = (taken > WHOLE).astype(np.float64) if term.whole else taken
        repeats = term.width // layer.width
        weights += term.factor * taken.repeat(repeats, axis=0).repeat(repeats, axis=1)
    return Grid(len(weights)).flat(weights)


def _held(across: Numbers, up: Numbers) -> Numbers:
    """Return 1 for every box between edges that holds squares, else 0."""
    return np.asarray((np.diff(across) > 0)[:, :, None] & (np.diff(up) > 0)[:, None, :])


def _edges(grid: Grid, layer: Layer, low: Array, high: Array) -> Numbers:
    """Return the places of one axis, in cells, between which a weight is constant, rising, shape (m, 4 t)."""
    places = []
    for term in layer.terms:
        for end in (low, high):
            start = np.floor(end / term.width).astype(np.int64) * term.width
            places += [start, start + term.width]
    return np.sort(np.clip(np.stack(places, axis=1), 0, grid.side), axis=1)


def _every(grid: Grid, layer: Layer, weights: Array, across: Numbers, up: Numbers) -> Array:
    """Return the weight of every square, in the grid's order."""
    full = np.zeros((grid.side // layer.width,) * 2)
    filled = np.repeat(np.repeat(weights, np.diff(across) // layer.width, 0), np.diff(up) // layer.width, 1)
    full[across[0] // layer.width : across[-1] // layer.width, up[0] // layer.width : up[-1] // layer.width] = filled
    return Grid(len(full)).flat(full)


def _of_cells(side: int, layer: Layer, images: Array) -> Array:
    """Return what a layer adds to the variance of every cell.

    A square's weight depends on the smallest block that it shares with the cell, as that of all blocks around it is
    added: the sums over blocks, from the largest, weigh what it changes by.
    """
    total, rows = np.zeros((side, side)), np.zeros((len(images) - 1, side, side))
    weight, largest = 0.0, 0.0
    for term in layer.terms:
        more = weight + term.of_cell
        whole = blocks(images, term.width // layer.width)
        squares, *sums = np.repeat(np.repeat(whole, term.width, axis=1), term.width, axis=2)
        total += (more**2 - weight**2) * squares
        rows += (more - weight) * np.array(sums).reshape(rows.shape)
        weight, largest = more, max(largest, more**2)
    return np.asarray(total + layer.noisy.spare * largest + np.einsum("rij,rs,sij->ij", rows, layer.form.between, rows))
