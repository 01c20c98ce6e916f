"""Positions seen through a disk: reports of cells near one's own -> the map of greatest likelihood, by EM.

A position is reported as any one cell of the disk around it with probability p each, or as any other cell within the
disk's radius of the grid with probability q each. Seen from above, the expected reports are the map, blurred by the
disk: an EM step is two convolutions, done by FFT (for large disks several times faster than sums along rows).
Paper: Du et al. 2024 (DAM). Dempster, Laird, Rubin 1977; acceleration: Varadhan and Roland 2008, by
`inference.joint.mixture`.
"""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics.claim import Relation
from dpress.core.basics.extras import scipy
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array, LinearMap, Numbers
from dpress.inference.joint.mixture import Step, extrapolated, stepped

Mask = npt.NDArray[np.bool_]

LEAST = 1e-300  # of a probability that a logarithm is taken of
GAP = 1e-4  # of the mean log-likelihood: below it only the noise is followed
ROUNDS = 300  # of three steps or a few more
FINENESS = 64  # radii that are tried
POINTS = 48  # along each axis of an integral


@dataclass(frozen=True, slots=True)
class Disk:
    """The cells within a radius of each other, and the enlarged grid where reports lie.

    Around every cell of side x side lie `area` cells at most `radius` away, centre to centre. The reports are all cells
    within the radius of any of them: a square of side + 2 radius with rounded corners. It holds every cell's disk
    whole, so that every position has as many near and as many far reports as any other.

    Args:
        side: of the grid.
        radius: in cells, at least 0.
    """

    side: int
    radius: int

    @property
    def width(self) -> int:
        """The side of the enlarged grid."""
        return self.side + 2 * self.radius

    @property
    def offsets(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The cells of a disk, across and up from the lower left corner of its square, row by row."""
        across, up = np.nonzero(_shape(self.radius))
        return across, up

    @property
    def lengths(self) -> list[int]:
        """The number of cells of every row of a disk, odd numbers."""
        return [int(length) for length in _shape(self.radius).sum(axis=1)]

    @property
    def area(self) -> int:
        """The number of cells of a disk."""
        return int(_shape(self.radius).sum())

    @property
    def outputs(self) -> int:
        """The number of cells that may be reported: d^2 + 4 d b + what the four corners of the disk hold."""
        return self.side**2 + 4 * self.radius * (self.side - 1) + self.area - 1

    @property
    def numbers(self) -> npt.NDArray[np.int32]:
        """The number of every cell of the enlarged grid, row by row, shape (width, width); -1 for none."""
        return _numbers(self)

    def image(self, reports: Array) -> Array:
        """Return values of all outputs as an image, 0 outside, shape (width, width)."""
        out = np.zeros((self.width, self.width))
        out[self.numbers >= 0] = reports
        return out

    def spread(self, image: Array) -> Array:
        """Return for every cell of the enlarged grid the sum over its disk, shape (width, width)."""
        return _filtered(self, image, around=False)

    def gather(self, image: Array) -> Array:
        """Return for every cell of the grid the sum over its disk in the enlarged grid, shape (side, side)."""
        return _filtered(self, image, around=True)[: self.side, : self.side]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blur(LinearMap):
    """The expected reports of every output, were these the counts of the cells: A = q + (p - q) [within the disk].

    Args:
        grid: of the cells.
        disk: of the same side.
        near: p.
        far: q, at most p.
    """

    grid: Grid
    disk: Disk
    near: Fraction
    far: Fraction

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.grid.cells

    @property
    def rows(self) -> int:
        """The number of outputs."""
        return self.disk.outputs

    def apply(self, cells: Numbers) -> Array:
        """Return the expected reports, shape (outputs,), for counts in cell order."""
        return self.seen(self.grid.image(np.asarray(cells, dtype=np.float64)))

    def transpose(self, answers: Array) -> Array:
        """Return the answers that a cell's reports add up to, on average, in cell order."""
        return self.grid.flat(self.back(answers))

    def sensitivity(self, order: int, relation: Relation) -> Fraction:
        """Return the sum of |change|^order for one user; for one who moves, with disks as far apart as can be."""
        far = self.rows - self.disk.area
        if relation is Relation.ADD_REMOVE:
            return self.disk.area * self.near**order + far * self.far**order
        return 2 * min(self.disk.area, far) * (self.near - self.far) ** order

    def seen(self, image: Array) -> Array:
        """Return the expected reports for an image of counts."""
        p, q = float(self.near), float(self.far)
        near = self.disk.spread(image)[self.disk.numbers >= 0]
        return np.asarray(q * image.sum() + (p - q) * np.maximum(near, 0.0))

    def back(self, answers: Array) -> Array:
        """Return A^T y as an image."""
        p, q = float(self.near), float(self.far)
        return np.asarray(q * answers.sum() + (p - q) * self.disk.gather(self.disk.image(answers)))


def likeliest(blur: Blur, reports: Array, *, gap: float = GAP, rounds: int = ROUNDS) -> Array:
    """Return the shares of all cells under which the reports are likeliest, an image of shape (side, side).

    EM from even shares, SQUAREM's extrapolation guarded so that the likelihood never falls, until the mean
    log-likelihood can gain no more than `gap`. The likelihood is concave: there is one maximum.

    Args:
        blur: what reports are expected of which counts.
        reports: how often every output was reported, shape (outputs,); without any all shares are even.
        gap: the bound on what is still to be gained.
        rounds: at most so many extrapolations.
    """
    if not reports.any():  # as a bootstrap of few people may draw it
        return np.full((blur.disk.side, blur.cells // blur.disk.side), 1 / blur.cells)
    shares = reports / reports.sum()
    take = functools.partial(_em, blur, shares)
    table = np.full(blur.cells, 1 / blur.cells)
    for _ in range(rounds):
        first = take(table)
        if first.gap <= gap:
            break
        table = extrapolated(take, table, first)
    return np.asarray(table.reshape(blur.disk.side, -1))


def _em(blur: Blur, shares: Array, table: Array) -> Step:
    """Return the EM step P'(v) = P(v) sum_y c_y A(y, v) / (A P)(y), c the shares of the reports; see `mixture.step`."""
    expected = np.maximum(blur.seen(table.reshape(blur.disk.side, -1)), LEAST)
    gained = float(shares @ np.log(expected))
    return stepped(table, blur.back(shares / expected).ravel(), gained, gained)


def informative_share(epsilon: Fraction) -> float:
    """Return the radius, as a share of the side, at which a report says most about a uniform position.

    In the limit of small cells, with the side for the unit: a report of density q, and e^epsilon q in the disk of
    radius b, on the unit square enlarged by b, of area 1 + 4 b + pi b^2. With A(y) the part of the square within b of
    y, g(y) = 1 + (e^epsilon - 1) A(y) and q = 1 / (1 + 4 b + e^epsilon pi b^2) the mutual information is

        I(b) = q (epsilon e^epsilon pi b^2 - integral of g(y) ln g(y) dy).

    It is solved on radii (k / 64)^2, k = 1..64: near the maximum I is flat.
    With an even report's entropy in the place of the true one, an upper bound (as Li et al. 2020 take on a line), the
    radius has a closed form, but is about twice as large where epsilon is small, and errors are larger.
    Paper: Du et al. 2024 (DAM).

    >>> [round(informative_share(Fraction(epsilon)), 2) for epsilon in (1, 3)]
    [0.47, 0.23]
    """
    return _informative_share(epsilon)


@functools.lru_cache(maxsize=64)
def _informative_share(epsilon: Fraction) -> float:
    radii = [(place / FINENESS) ** 2 for place in range(1, FINENESS + 1)]
    room = np.empty((2, POINTS, POINTS, POINTS))
    return max(radii, key=lambda radius: _information(float(epsilon), radius, room))


def _information(epsilon: float, radius: float, room: Array | None = None) -> float:
    """Return I(b); everything divided by e^epsilon, which may be too large for a float.

    `room` is memory for two blocks of points, shape (2, points, points, points): fresh memory costs more than the sums.
    """
    odds, disk = math.exp(-epsilon), math.pi * radius**2
    step = (0.5 + radius) / POINTS  # over a quarter of the enlarged square; the other three are alike
    place, middles = step * (np.arange(POINTS) + 0.5) - radius, (np.arange(POINTS) + 0.5) / POINTS
    first, last = (
        np.maximum(place - radius, 0),
        np.minimum(place + radius, 1),
    )  # of the disk around a place, in the square
    across = first[:, None] + (last - first)[:, None] * middles
    half = np.sqrt(np.maximum(radius**2 - (across - place[:, None]) ** 2, 0))
    high, low = np.empty((2, POINTS, POINTS, POINTS)) if room is None else room
    np.minimum(np.add(place[:, None, None], half, out=high), 1, out=high)
    np.maximum(np.subtract(place[:, None, None], half, out=low), 0, out=low)
    np.maximum(np.subtract(high, low, out=high), 0, out=high)
    area = high.mean(axis=2) * (last - first)
    scaled = odds + (1 - odds) * area  # g / e^epsilon
    mean = 4 * step**2 * float((scaled * (np.log(scaled) + epsilon)).sum())
    return (epsilon * disk - mean) / (odds * (1 + 4 * radius) + disk)


@functools.lru_cache(maxsize=16)
def _shape(radius: int) -> Mask:
    place = np.arange(-radius, radius + 1)
    return np.asarray(place[:, None] ** 2 + place**2 <= radius**2)


@functools.lru_cache(maxsize=8)
def _numbers(disk: Disk) -> npt.NDArray[np.int32]:
    """Return the numbers of the outputs: those whose nearest cell of the grid is within the radius."""
    place = np.arange(-disk.radius, disk.side + disk.radius)
    away = np.maximum(np.maximum(-place, place - disk.side + 1), 0) ** 2
    held = away[:, None] + away <= disk.radius**2
    return np.where(held, held.ravel().cumsum().reshape(held.shape) - 1, -1).astype(np.int32)


@functools.lru_cache(maxsize=8)
def _kernel(disk: Disk) -> tuple[int, npt.NDArray[np.complex128]]:
    fft = scipy("fft")

    size = int(fft.next_fast_len(disk.width, real=True))
    return size, fft.rfft2(_shape(disk.radius).astype(np.float64), (size, size))


def _filtered(disk: Disk, image: Array, *, around: bool) -> Array:
    """Return the image convolved with the disk, or correlated; the size is such that nothing wraps around."""
    fft = scipy("fft")

    size, kernel = _kernel(disk)
    filtered = fft.irfft2(fft.rfft2(image, (size, size)) * (kernel.conj() if around else kernel), (size, size))
    return np.asarray(filtered[: disk.width, : disk.width])
