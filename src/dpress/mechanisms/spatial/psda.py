"""`psda`: every user states a safe region, a node of the quadtree, and is hidden within it: PCEP, region by region.

cell -> region of the user's own level -> one sign of a random projection over the region -> counts of the region's
cells, made to add up to the region's users -> added up over the regions.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.core import check, payload
from dpress.core.claim import Claim, PureDP
from dpress.core.errors import NotSupported
from dpress.core.grid import Grid
from dpress.core.linear import Array, Identity
from dpress.core.measurement import Measurement
from dpress.core.mechanism import Card
from dpress.core.oracle import Channel, Mask, Payloads, Tally, Values
from dpress.core.rng import Generator
from dpress.inference.maps.density import Cells, Density
from dpress.inference.maps.population import normal
from dpress.mechanisms.oracle.pcep import SEED_BYTES, Pcep
from dpress.mechanisms.protocol.report_type import ReportType
from dpress.mechanisms.spatial.map_decoder import MapDecoder, node_type
from dpress.mechanisms.spatial.region_noise import RegionNoise
from dpress.noise.uniform import below

LARGEST_SIDE = 32  # a projection of 8 side^2 rows and side^2 columns is inverted
LEVELS = (0, 1, 2)
NOT_ANY = "NOT between any two positions: a report names its user's safe region in clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeRegions:
    """What devices send: the safe region and the epsilon in clear, and one perturbed sign of the cell within.

    Users' own choices are simulated: the level of the region and the epsilon are drawn by lot, each as likely as the
    others, independently of the position; the region is the node of that level that the position lies in.

    Promise: pure epsilon_i, the user's own, between two positions of the user's safe region, local model. Proven, for
        that relation ALONE: two positions in different regions are told apart for certain.
    Error: `Pcep`, for the users of each region.
    Paper: Chen, Li, Qin, Kasiviswanathan, Jin 2016 (PSDA).

    Args:
        grid: of side 2^h, at most 32.
        loss: the largest epsilon.
        region_levels: the levels of the quadtree whose nodes are safe regions, rising; 0 is the root, and a single
            cell, level h, would be no protection at all.
        epsilons: those that users have, each at most the largest; empty where all have that one.
        rows: of the projection; 0, left out, as in `Pcep`.
        seed: of the projection.
        probabilities: P(the sign is the value's) for every epsilon; empty, left out, as in `Pcep`.
    """

    grid: Grid
    loss: PureDP
    region_levels: tuple[int, ...] = LEVELS
    epsilons: tuple[Fraction, ...] = ()
    rows: int = 0
    seed: bytes = bytes(SEED_BYTES)
    probabilities: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        payload.check_domain(self.grid.cells, self.loss)
        height, levels = self.grid.height, self.region_levels
        if height is None or self.grid.side > LARGEST_SIDE:
            raise NotSupported(f"safe regions need a side of 2^h, at most {LARGEST_SIDE}, got {self.grid.side}")
        if not levels or list(levels) != sorted({check.count("region_levels", one, least=0) for one in levels}):
            raise ValueError(f"region_levels must be different levels, rising, got {list(levels)}")
        if levels[-1] >= height:
            raise ValueError(f"region_levels must lie below {height}, the level of the cells, got {list(levels)}")
        losses = tuple(PureDP(epsilon=epsilon) for epsilon in self.epsilons) or (self.loss,)
        if any(loss.epsilon > self.loss.epsilon for loss in losses):
            raise ValueError(f"epsilons must be at most {self.loss.epsilon}")
        object.__setattr__(self, "epsilons", tuple(loss.epsilon for loss in losses))
        own = _projection(self)
        object.__setattr__(self, "rows", own.rows)
        object.__setattr__(self, "probabilities", own.probabilities)

    @property
    def losses(self) -> tuple[PureDP, ...]:
        """The epsilons that users have."""
        return tuple(PureDP(epsilon=epsilon) for epsilon in self.epsilons)

    @property
    def pcep(self) -> Pcep:
        """The projection, with all regions, level by level, and all epsilons."""
        return _pcep(self)

    @property
    def starts(self) -> tuple[int, ...]:
        """The place in the list of regions of every level's first, and their number last."""
        return (0, *itertools.accumulate(4**level for level in self.region_levels))

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.grid.cells

    @property
    def width(self) -> int:
        """The number of bytes of a report."""
        return self.pcep.width

    @property
    def claim(self) -> Claim:
        """The promise to users of the largest epsilon; with smaller regions than the box it is none of any two places.

        The document's promise holds within a user's safe region, which everybody is told: between two places in
        different regions a report decides. So nothing is proven of any two places then.
        """
        own = self.pcep.claim
        if self.region_levels == (0,):
            return own
        return Claim(published=own.published, proven=None, unit=own.unit, basis=f"{own.basis}; {NOT_ANY}")

    def regions(self, cells: Values, choices: Values) -> Values:
        """Return the places in the list of regions of users in these cells who chose these levels, by their places."""
        shifts = np.array([2 * ((self.grid.height or 0) - level) for level in self.region_levels], dtype=np.int32)
        starts = np.array(self.starts[:-1], dtype=np.int32)
        return np.asarray(starts[choices] + (cells >> shifts[choices]))

    def perturb(self, values: Values, *, rng: Generator) -> Payloads:
        """Return one report for every cell.

        Raises:
            ValueError: a value is not a cell of the grid (it is not shown).
        """
        codes = payload.codes(values, self.size)
        choices = below(len(self.region_levels), codes.size, rng=rng).astype(np.int32)
        levels = below(len(self.losses), codes.size, rng=rng)
        return self.pcep.perturb(codes, rng=rng, regions=self.regions(codes, choices), levels=levels)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports name a row, a region or an epsilon that there is not."""
        return self.pcep.faults(payloads)

    def tally(self, payloads: Payloads) -> Tally:
        """Return the sums of the signs by region, epsilon and row; see `Pcep.tally`."""
        return self.pcep.tally(payloads)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the counts of all cells, unbiased, before regions are made to add up to their users."""
        return self.pcep.estimate(tally, users)

    def variance(self, users: int, frequency: float = 0.0) -> float:
        """Return the variance of a count, as if all users had the region and the epsilon that are worst for it."""
        return self.pcep.variance(users, frequency)

    def channel(self) -> Channel:
        """Return the exact channel: a report of another region than the cell's own has probability 0.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        own, regions, levels = self.pcep, self.starts[-1], len(self.losses)
        numbers = np.indices((2 * own.rows, regions, levels), dtype=np.uint32).reshape(3, -1)
        payload.check_channel(numbers.shape[1], self.size)
        widths = [payload.width(2 * own.rows), *(payload.width(many) for many in (regions, levels) if many > 1)]
        kept = [numbers[0], *(part for part, many in zip(numbers[1:], (regions, levels), strict=True) if many > 1)]
        parts = [payload.pack(part, width) for part, width in zip(kept, widths, strict=True)]
        rows = tuple(self._row(cell, numbers.astype(np.int64)) for cell in range(self.size))
        return Channel(payloads=np.concatenate(parts, axis=1), probabilities=rows)

    def _row(self, cell: int, numbers: Array) -> tuple[Fraction, ...]:
        own, levels = self.pcep, range(len(self.losses))
        choices = np.arange(len(self.region_levels), dtype=np.int32)
        named = set(self.regions(np.full(choices.size, cell, dtype=np.int32), choices).tolist())
        lots = len(choices) * len(levels) * own.rows
        chance = [(own.p(level) / lots, (1 - own.p(level)) / lots) for level in levels]
        flipped = (own.signs[numbers[0] >> 1, cell] < 0) != (numbers[0] & 1)
        triples = zip(flipped, numbers[1], numbers[2], strict=True)
        return tuple(chance[level][int(wrong)] if region in named else Fraction(0) for wrong, region, level in triples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Psda:
    """Counts of all cells: every region's, by PCEP and with the region's number of users, which is public; their sum.

    The users of different regions are different people, so that the counts of a cell within all regions around it add
    up. All that is known of the taxonomy beside them is how many users each region has: each region's counts are moved
    alike to add up to it. That is least squares for counts of equal variance, and makes all nodes of the tree agree.
    Error: a count within a region of K cells and n users has the variance (1 - 1 / K) (n c^2 g - n / K), c = (e^epsilon
        + 1) / (e^epsilon - 1), g the mean of the diagonal of G^-1 (`Pcep`); that of any rectangle is `RegionNoise`,
        exact but for the projection's own correlations, about 1 / sqrt(rows).
    Paper: Chen, Li, Qin, Kasiviswanathan, Jin 2016 (PSDA); with the unbiased estimate of `Pcep`.

    Args:
        oracle: what devices send.
    """

    oracle: SafeRegions

    @property
    def grid(self) -> Grid:
        """The cells, of side 2^h, at most 32."""
        return self.oracle.grid

    @property
    def region_levels(self) -> tuple[int, ...]:
        """The levels whose nodes are safe regions."""
        return self.oracle.region_levels

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked."""
        return (node_type(self.grid, 0, self.oracle),)

    def decoder(self, users: int) -> MapDecoder:
        """Return how the map is made of what was measured."""
        return MapDecoder(self, users)

    @property
    def claim(self) -> Claim:
        """The promise of one report, within a safe region."""
        return self.oracle.claim

    @property
    def linear(self) -> bool:
        """The estimate is linear in the reports."""
        return True

    @property
    def map(self) -> Identity:
        """The cells' counts among the users of regions of the first level, then of the next: a cell has one for each.

        A cell's count is their sum.
        """
        return Identity(len(self.region_levels) * self.grid.cells)

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the cells' counts, level by level of the regions; those of a region add up to its users.

        Raises:
            ValueError: nobody reported.
        """
        (tally,) = tallies
        if not int(tally[-1]):
            raise ValueError("there is no report")
        own = self.oracle.pcep
        table = tally[:-1].reshape(self.oracle.starts[-1], len(own.levels), own.rows + 1)
        found = []
        for first, last in itertools.pairwise(self.oracle.starts):
            alone = np.zeros_like(table)
            alone[first:last] = table[first:last]
            found.append(own.estimate(alone.ravel(), int(tally[-1])).answers)
        return self._measurement(found, table[:, :, -1].astype(np.float64))

    def simulated(self, counts: Array, users: int, *, rng: Generator) -> Measurement:
        """Return counts as they would be measured, were these the true ones; every choice gets its expected users."""
        del users  # the counts have them
        each, chosen = self._expected(counts)
        noise = np.sqrt(self._spread(chosen)) * normal(self.map.rows, rng=rng)
        return self._measurement(list(noise.reshape(-1, self.grid.cells) + each), chosen)

    def decoded(self, measurement: Measurement, users: int) -> Density:
        """Return the sums over the levels, with their noise."""
        del users  # the measurement has them
        levels = np.asarray(measurement.answers, dtype=np.float64).reshape(-1, self.grid.cells)
        spread = np.broadcast_to(measurement.variance, (self.map.rows,)).reshape(-1, self.grid.cells)
        pairs = zip(spread, self.region_levels, strict=True)
        layers = tuple(Grid(1 << level).image(own.reshape(4**level, -1)[:, 0]) for own, level in pairs)
        noise = RegionNoise(grid=self.grid, layers=layers)
        return Cells(grid=self.grid, counts=self.grid.image(levels.sum(axis=0)), noise=noise)

    def mean_variance(self, users: int) -> float:
        """Return the variance of a cell's count with even shares."""
        each, chosen = self._expected(np.full(self.grid.cells, users / self.grid.cells))
        found = self._measurement([each] * len(self.region_levels), chosen)
        return float(self.decoded(found, users).cell_variances().mean())

    def _expected(self, counts: Array) -> tuple[Array, Array]:
        """Return the counts among the users of regions of one level, and the users by region and epsilon."""
        each, losses = counts / len(self.region_levels), len(self.oracle.losses)
        inside = np.concatenate([each.reshape(4**level, -1).sum(axis=1) for level in self.region_levels])
        return each, np.repeat(inside[:, None] / losses, losses, axis=1)

    def _measurement(self, found: Sequence[Array], chosen: Array) -> Measurement:
        """Return what the counts of every level make once regions have their totals, shape (regions, epsilons)."""
        answers = []
        for counts, level, first in zip(found, self.region_levels, self.oracle.starts, strict=False):
            families, totals = counts.reshape(4**level, -1), chosen[first : first + 4**level].sum(axis=1)
            answers.append(families + (totals / families.shape[1] - families.mean(axis=1))[:, None])
        joined = np.concatenate([own.ravel() for own in answers])
        return Measurement(map=self.map, answers=joined, variance=self._spread(chosen))

    def _spread(self, chosen: Array) -> Array:
        """Return the variance of every cell's count before the totals, level by level, the same within a region."""
        cells = np.concatenate([np.full(4**level, self.grid.cells / 4**level) for level in self.region_levels])
        variance = (chosen * _noise(self.oracle)).sum(axis=1) - chosen.sum(axis=1) / cells
        return np.repeat(np.maximum(variance, 0), cells.astype(np.int64))


@functools.lru_cache(maxsize=4)
def _pcep(own: SafeRegions) -> Pcep:
    return _projection(own)


def _projection(own: SafeRegions) -> Pcep:
    sizes = [(level, own.grid.cells // 4**level) for level in own.region_levels]
    regions = tuple(tuple(range(node * size, (node + 1) * size)) for level, size in sizes for node in range(4**level))
    return Pcep(
        size=own.grid.cells, levels=own.losses, rows=own.rows, regions=regions, seed=own.seed,
        probabilities=own.probabilities,
    )  # fmt: skip


@functools.lru_cache(maxsize=4)
def _noise(own: SafeRegions) -> Array:
    """Return c^2 g for every region and epsilon: the variance that one user of it adds to the region's cells."""
    pcep, starts = own.pcep, own.starts
    found = []
    for (first, last), level in zip(itertools.pairwise(starts), own.region_levels, strict=True):
        tally = np.zeros((starts[-1], len(pcep.levels), pcep.rows + 1), dtype=np.int64)
        tally[first:last, 0, -1] = 1  # a user whose sign says nothing: what is left is the noise
        spread = np.asarray(pcep.estimate(tally.ravel(), last - first).variance)
        found.append(spread.reshape(4**level, -1).mean(axis=1))
    factors = np.array([1 / float(2 * pcep.p(level) - 1) ** 2 for level in range(len(pcep.levels))])
    return np.asarray(np.concatenate(found)[:, None] * factors / factors[0])


def psda(
    grid: Grid, loss: object, region_levels: Sequence[int] = (), epsilons: Sequence[check.Number] = ()
) -> Psda | None:
    """Return PSDA over a grid; None where the loss is no epsilon, or the grid no quadtree or too fine.

    Args:
        grid: of side 2^h, from 2 to 32.
        loss: the largest epsilon.
        region_levels: left out, those of 0, 1 and 2 that lie above the cells.
        epsilons: left out, all users have the largest.
    """
    if not isinstance(loss, PureDP) or not grid.height or grid.side > LARGEST_SIDE:
        return None
    levels = tuple(region_levels) or tuple(level for level in LEVELS if level < grid.height)
    given = tuple(check.exact("epsilon", epsilon) for epsilon in epsilons)
    return Psda(oracle=SafeRegions(grid=grid, loss=loss, region_levels=levels, epsilons=given))


def _example(loss: object) -> Psda:
    found = psda(Grid(4), loss)
    if found is None:
        raise NotSupported("a sign is calibrated to epsilon")
    return found


CARD = Card(
    name="psda",
    family="spatial",
    model="local",
    paper="spatial: PSDA (Chen, Li, Qin, Kasiviswanathan, Jin 2016)",
    summary="Users name a safe region and are hidden only within it, not between any two positions; PCEP in each.",
    method=Psda,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
    spatial=psda,
    parameters=("height", "region_levels", "epsilons"),
)
