"""`dam`: the device reports a cell near its own, or any other one: a disk in place of a single cell.

cell -> a uniform cell of the disk around it with probability P, else a uniform one outside -> its number in the fewest
bytes -> how often each was reported -> the map of greatest likelihood.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core import check, payload
from dpress.core import rng as generators
from dpress.core.claim import Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.grid import Grid, Rectangles
from dpress.core.linear import Array
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.payload import Number
from dpress.core.rng import Generator
from dpress.inference.maps.density import Cells, Density
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.mechanisms.spatial.disk import Blur, Disk, informative_share, likeliest
from dpress.mechanisms.spatial.map_decoder import SEED, MapDecoder, node_type
from dpress.noise.response import LEFT_OUT, settled, truthful
from dpress.noise.uniform import small

Places = npt.NDArray[np.int32]

BLOCK = 1 << 14
FEW = 10.0  # expected reports below which a Poisson number is drawn as such
MOST = 50  # of them: more come with a chance of 1e-19
RUNS = 4  # simulated collections behind a mean variance


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskReports:
    """What devices send: one cell of the enlarged grid, those of the disk around the own cell likelier than others.

    Promise: pure epsilon between any two cells, local model. A report in the disk has probability p, any other one q,
        p / q <= e^epsilon, and every cell has `disk.area` of the first and the same number of the second. Proven.
    Error: the number of reports of an output has mean n p + (N - n) q and variance n p (1 - p) + (N - n) q (1 - q), n
        of N users within its disk.
    Paper: Du et al. 2024, DAM; its report of the rounded square, with whole cells.

    Args:
        grid: of the cells.
        loss: epsilon.
        radius: of the disk, in whole cells, at most the side; 0 is `krr`. -1, left out, stands for the one at which a
            report says most about a position.
        truth: P(a report lies in the disk); left out, the largest that epsilon allows.

    >>> from dpress.core import rng
    >>> oracle = DiskReports(grid=Grid(4), loss=PureDP(epsilon=2))
    >>> oracle.disk.radius, oracle.disk.outputs
    (1, 32)
    >>> oracle.perturb(np.array([0, 0, 15]), rng=rng.seeded(1)).tolist()
    [[4], [0], [20]]
    """

    grid: Grid
    loss: PureDP
    radius: int = -1
    truth: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.grid.cells, self.loss)
        radius = check.count("radius", self.radius, least=-1)
        if radius < 0:
            side = self.grid.side
            radius = round(side * informative_share(self.loss.epsilon)) if side > 1 else 0
        if radius > self.grid.side:
            raise ValueError(f"radius must be at most the side, {self.grid.side}, got radius={radius}")
        object.__setattr__(self, "radius", radius)
        truth = settled(self.truth, self.loss.epsilon, Fraction(self.others, self.disk.area))
        object.__setattr__(self, "truth", truth)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.grid.cells

    @property
    def disk(self) -> Disk:
        """The disk around a cell."""
        return Disk(self.grid.side, self.radius)

    @property
    def others(self) -> int:
        """The number of outputs outside a disk."""
        return self.disk.outputs - self.disk.area

    @property
    def blur(self) -> Blur:
        """The expected reports for given counts: p and q are those that `perturb` uses."""
        disk, truth = self.disk, self.truth
        far = (1 - truth) / self.others if self.others else Fraction(0)
        return Blur(grid=self.grid, disk=disk, near=truth / disk.area, far=far)

    @property
    def width(self) -> int:
        """The number of bytes that hold an output's number."""
        return payload.width(self.disk.outputs)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        disk = self.disk
        basis = (
            f"one of {disk.outputs} cells: with probability {self.truth} a uniform one of the {disk.area} at most "
            f"{disk.radius} away, else a uniform one of the {self.others} others, whatever the own cell"
        )
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every cell.

        Raises:
            ValueError: a value is not a cell of the grid (it is not shown).
        """
        codes, places, disk, truth = payload.codes(values, self.size), _places(self.grid), self.disk, self.truth
        out = np.empty((codes.size, self.width), dtype=np.uint8)
        for start in range(0, codes.size, BLOCK):
            across, up = places[:, codes[start : start + BLOCK]]
            answers = _respond(disk, truth, across, up, rng=rng)
            out[start : start + BLOCK] = payload.pack(answers, self.width)
        return out

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports hold no output."""
        return {"out of range": payload.unpack(payloads) >= self.disk.outputs}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how often each output was reported, shape (outputs,)."""
        return payload.histogram(payloads, self.disk.outputs)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the numbers of reports as what they are: the counts of all cells, blurred, with their variance."""
        blur, answers = self.blur, tally.astype(np.float64)
        p, q = float(blur.near), float(blur.far)
        near = np.clip((answers - users * q) / (p - q), 0, users) if p > q else np.zeros(answers.size)
        return Measurement(map=blur, answers=answers, variance=near * p * (1 - p) + (users - near) * q * (1 - q))

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of the reports of an output in whose disk that share of the users is."""
        p, q = float(self.blur.near), float(self.blur.far)
        return users * (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q))

    def channel(self) -> Channel:
        """Return the exact channel.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        disk, blur = self.disk, self.blur
        payload.check_channel(disk.outputs, self.size)
        rows = []
        for across, up in _places(self.grid).T:
            lines, columns = disk.offsets
            near = set(disk.numbers[across + lines, up + columns].tolist())
            rows.append(tuple(blur.near if y in near else blur.far for y in range(disk.outputs)))
        numbers = np.arange(disk.outputs, dtype=np.uint32)
        return Channel(payloads=payload.pack(numbers, self.width), probabilities=tuple(rows))


def _respond(disk: Disk, truth: Fraction, across: Places, up: Places, *, rng: Generator) -> Number:
    """Return an output for every place: one block of lanes; near and far ones are drawn for everybody."""
    lines, columns = disk.offsets
    chosen = small(disk.area, across.size, rng=rng)
    near: Number = disk.numbers[across + lines[chosen], up + columns[chosen]].astype(np.uint32)
    if disk.outputs == disk.area:
        return near
    honest = truthful(truth, across.size, rng=rng)
    far = small(disk.outputs - disk.area, across.size, rng=rng)
    for line, length in enumerate(disk.lengths):  # skips the disk, row by row
        start = disk.numbers[across + line, up + (disk.radius - length // 2)].astype(np.uint32)
        far += np.where(far >= start, np.uint32(length), np.uint32(0))
    return np.asarray(np.where(honest, near, far))


@functools.lru_cache(maxsize=8)
def _places(grid: Grid) -> Places:
    """Return across and up of every cell in cell order, shape (2, cells)."""
    places = np.indices((grid.side, grid.side)).astype(np.float64)
    return grid.flat(places).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dam:
    """The map under which the reports are likeliest.

    Error: biased where it is rough and never below zero; no formula, a parametric bootstrap (`maps.MapDecoder`). A
    finer grid costs time, and gains little but where most people are in few places.
    Paper: Du et al. 2024, DAM with EM, here accelerated and run until no likelihood is to be gained.

    Args:
        oracle: what devices send.
    """

    oracle: DiskReports

    @property
    def grid(self) -> Grid:
        """The cells, of any side."""
        return self.oracle.grid

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked."""
        return (node_type(self.grid, 0, self.oracle),)

    def decoder(self, users: int) -> MapDecoder:
        """Return how the map is made of what was measured."""
        return MapDecoder(self, users)

    @property
    def claim(self) -> Claim:
        """The promise of one report."""
        return self.oracle.claim

    @property
    def linear(self) -> bool:
        """The estimate is not linear in the reports."""
        return False

    @property
    def map(self) -> Blur:
        """The counts of all cells, blurred."""
        return self.oracle.blur

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the numbers of reports.

        Raises:
            ValueError: nobody reported.
        """
        (tally,) = tallies
        if not int(tally[-1]):
            raise ValueError("there is no report")
        return self.oracle.estimate(tally[:-1], int(tally[-1]))

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the likeliest map; its error is not known before a bootstrap, and infinite until then."""
        shares = likeliest(self.map, np.asarray(measurement.answers, dtype=np.float64))
        return Cells(grid=self.grid, counts=shares * users, noise=_Unknown(side=self.grid.side))

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return reports as they would be, were these the true counts: independent Poisson numbers, or nearly so."""
        held = np.maximum(counts, 0)
        expected = self.map.apply(held * (users / held.sum()))
        return self.oracle.estimate(np.asarray(_poisson(expected, rng=rng)), users)

    def mean_variance(self, users: int) -> float:
        """Return the mean squared error of a cell over a few simulated collections with even shares."""
        even, rng = np.full(self.grid.cells, users / self.grid.cells), generators.seeded(SEED)
        found = [self.decoded(self.simulated(even, users, rng=rng), users).counts for _ in range(RUNS)]
        return float(((np.stack(found) - even[0]) ** 2).mean())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unknown:
    """An error that only a bootstrap tells.

    Args:
        side: of the grid.
    """

    side: int

    def variances(self, rectangles: Rectangles) -> Array:
        """Return infinities, shape (m,)."""
        return np.full(len(rectangles.left), math.inf)

    def cells(self) -> Array:
        """Return infinities, shape (side, side)."""
        return np.full((self.side, self.side), math.inf)


def _poisson(mean: Array, *, rng: Generator) -> Array:
    """Return numbers >= 0 with these means: exact Poisson numbers where few are expected.

    Elsewhere (sqrt(m - 1/4) + Z / 2)^2 with Z normal: mean m, variance m - 1/8. It stands for noise; nothing private.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - loads slowly

    uniform = (rng.words(mean.size) >> np.uint64(12)) * 2.0**-52 + 2.0**-53
    out = (np.sqrt(np.maximum(mean - 0.25, 0)) + ndtri(uniform) / 2) ** 2
    few = np.flatnonzero(mean < FEW)
    chance = np.exp(-mean[few])
    below, found = chance.copy(), np.zeros(few.size)
    for number in range(1, MOST):
        found += uniform[few] > below
        chance *= mean[few] / number
        below += chance
    out[few] = found
    return np.asarray(out)


def dam(grid: Grid, loss: object) -> Dam | None:
    """Return the disk mechanism over a grid; None where the loss is no epsilon."""
    return Dam(oracle=DiskReports(grid=grid, loss=loss)) if isinstance(loss, PureDP) else None


def _example(loss: object) -> Dam:
    found = dam(Grid(4), loss)
    if found is None:
        raise NotSupported("a disk's reports are calibrated to epsilon")
    return found


CARD = Card(
    name="dam",
    family="spatial",
    model="local",
    paper="spatial: DAM (Du et al. 2024)",
    summary="Reports a cell within a disk around the own one; the likeliest map by EM, best for smooth maps.",
    method=Dam,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=dam,
    parameters=("height", "side"),
)
