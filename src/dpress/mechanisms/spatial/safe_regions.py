"""Reports from within safe regions: what the devices of `psda` send.

cell -> region of the user's own level -> one sign of a random projection over the region.
"""

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.grid import Grid
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Oracle, Payloads, Tally, Values
from dpress.mechanisms.oracle.pcep import SEED_BYTES, Pcep
from dpress.noise.uniform import below

LARGEST_SIDE = 32  # a projection of 8 side^2 rows and side^2 columns is inverted
LEVELS = (0, 1, 2)
CLOSE = 1e-9  # of an epsilon as a column or a program gives it
NOT_ANY = "NOT between any two positions: a report names its user's safe region in clear"


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeRegions(Oracle):
    """What devices send: the safe region and the epsilon in clear, and one perturbed sign of the cell within.

    A user may state both, by `region_level` and `epsilon`, each one of the lists below. The choices of users who state
    nothing are simulated: the level and the epsilon are drawn at random, each as likely as the others, independently of
    the position. The region is the node of the level that the position lies in.

    Promise: pure epsilon_i, the user's own, between two positions of the user's safe region, local model. Proven, for
        that relation ALONE: two positions in different regions are distinguished for certain.
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
        if not levels or list(levels) != sorted({check.count("region_levels", level, least=0) for level in levels}):
            raise ValueError(f"region_levels must be different levels, rising, got {list(levels)}")
        if levels[-1] >= height:
            raise ValueError(f"region_levels must lie below {height}, the level of the cells, got {list(levels)}")
        losses = tuple(PureDP(epsilon=epsilon) for epsilon in self.epsilons) or (self.loss,)
        if any(loss.epsilon > self.loss.epsilon for loss in losses):
            raise ValueError(f"epsilons must be at most {self.loss.epsilon}")
        object.__setattr__(self, "epsilons", tuple(loss.epsilon for loss in losses))
        pcep = _projection(self)
        object.__setattr__(self, "rows", pcep.rows)
        object.__setattr__(self, "probabilities", pcep.probabilities)

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

        The document's promise holds within a user's safe region, which is public: between two places in
        different regions a report decides. So nothing is proven of any two places then.
        """
        claim = self.pcep.claim
        if self.region_levels == (0,):
            return claim
        return Claim(published=claim.published, proven=None, unit=claim.unit, basis=f"{claim.basis}; {NOT_ANY}")

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

    def perturb_stated(self, values: Values, stated: Mapping[str, Any], *, rng: Generator) -> Payloads:
        """Return one report for every cell, of users who all state the same `region_level` and `epsilon`.

        Either may be left out, and is drawn as in `perturb`.

        Raises:
            ValueError: a value is not a cell of the grid, or a choice not of its list (neither is shown).
        """
        codes = payload.codes(values, self.size)
        level, epsilon = self._stated(stated)
        choices = below(len(self.region_levels), codes.size, rng=rng).astype(np.int32) if level is None else None
        losses = below(len(self.losses), codes.size, rng=rng) if epsilon is None else None
        choices = np.full(codes.size, level, dtype=np.int32) if choices is None else choices
        losses = np.full(codes.size, epsilon, dtype=np.int64) if losses is None else losses
        return self.pcep.perturb(codes, rng=rng, regions=self.regions(codes, choices), levels=losses)

    def claim_stated(self, stated: Mapping[str, Any]) -> Claim:
        """Return the promise to users who state this: their own epsilon within their own region, and no other.

        The root as the region, level 0, holds any two positions: then it is proven of them.

        Raises:
            ValueError: a choice is not of its list (it is not shown).
        """
        level, epsilon = self._stated(stated)
        claim = self.pcep.claim if epsilon is None else self.pcep.claim_of(epsilon)
        if level is not None and self.region_levels[level] == 0:
            return claim
        proven = claim.proven if self.region_levels == (0,) else None
        basis = claim.basis if proven else f"{claim.basis}; {NOT_ANY}"
        return Claim(published=claim.published, proven=proven, unit=claim.unit, basis=basis)

    def _stated(self, stated: Mapping[str, Any]) -> tuple[int | None, int | None]:
        """Return the places of what is stated in the lists of levels and epsilons; None for what is left out."""
        if unknown := sorted(set(stated) - {"region_level", "epsilon"}):
            raise ValueError(f"users of psda state region_level and epsilon, got {', '.join(unknown)}")
        places = [
            None if name not in stated else _place(name, stated[name], given)
            for name, given in (("region_level", self.region_levels), ("epsilon", self.epsilons))
        ]
        return places[0], places[1]

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
        pcep, regions, levels = self.pcep, self.starts[-1], len(self.losses)
        numbers = np.indices((2 * pcep.rows, regions, levels), dtype=np.uint32).reshape(3, -1)
        payload.check_channel(numbers.shape[1], self.size)
        widths = [payload.width(2 * pcep.rows), *(payload.width(many) for many in (regions, levels) if many > 1)]
        kept = [numbers[0], *(part for part, many in zip(numbers[1:], (regions, levels), strict=True) if many > 1)]
        parts = [payload.pack(part, width) for part, width in zip(kept, widths, strict=True)]
        rows = tuple(self._row(cell, numbers.astype(np.int64)) for cell in range(self.size))
        return Channel(payloads=np.concatenate(parts, axis=1), probabilities=rows)

    def _row(self, cell: int, numbers: Array) -> tuple[Fraction, ...]:
        pcep, levels = self.pcep, range(len(self.losses))
        choices = np.arange(len(self.region_levels), dtype=np.int32)
        named = set(self.regions(np.full(choices.size, cell, dtype=np.int32), choices).tolist())
        choices_of_all = len(choices) * len(levels) * pcep.rows
        chance = [(pcep.p(level) / choices_of_all, (1 - pcep.p(level)) / choices_of_all) for level in levels]
        flipped = (pcep.signs[numbers[0] >> 1, cell] < 0) != (numbers[0] & 1)
        triples = zip(flipped, numbers[1], numbers[2], strict=True)
        return tuple(chance[level][int(wrong)] if region in named else Fraction(0) for wrong, region, level in triples)


def _place(name: str, value: Any, given: Sequence[int | Fraction]) -> int:
    """Return the place of what a user states among what there is to choose from."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    for place, choice in enumerate(given):
        if math.isclose(number, float(choice), rel_tol=CLOSE):
            return place
    raise ValueError(
        f"{name} must be one of {', '.join(f'{float(choice):g}' for choice in given)}; what was stated is not"
    )


@functools.lru_cache(maxsize=4)
def _pcep(method: SafeRegions) -> Pcep:
    return _projection(method)


def _projection(method: SafeRegions) -> Pcep:
    sizes = [(level, method.grid.cells // 4**level) for level in method.region_levels]
    regions = tuple(tuple(range(node * size, (node + 1) * size)) for level, size in sizes for node in range(4**level))
    return Pcep(
        size=method.grid.cells, levels=method.losses, rows=method.rows, regions=regions, seed=method.seed,
        probabilities=method.probabilities,
    )  # fmt: skip
