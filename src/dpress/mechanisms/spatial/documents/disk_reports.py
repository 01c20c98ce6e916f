"""Reports of a cell near the own one, or of any other: what the devices of `dam` send.

cell -> a uniform cell of the disk around it with probability P, else a uniform one outside -> its number in the fewest
bytes.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.measurement import Measurement
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.core.reports.payload import Number
from dpress.mechanisms.spatial.documents.disk import Blur, Disk, informative_share
from dpress.noise.response import LEFT_OUT, resolve_probability, truthful
from dpress.noise.uniform import small

Places = npt.NDArray[np.int32]

BLOCK = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskReports(Oracle):
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

    >>> from dpress.core.basics import rng
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
        truth = resolve_probability(self.truth, self.loss.epsilon, Fraction(self.others, self.disk.area))
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
