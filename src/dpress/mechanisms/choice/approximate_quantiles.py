"""`approximate_quantiles`: levels that are quantiles of every group, found one half after the other.

counts of levels -> a place within its level for every row -> the middle quantile of all rows -> those below it among
the rows below, those above among the rows above, and so on -> levels.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Relation, Unit
from dpress.core.basics.losses.any_loss import additive
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card
from dpress.noise.choose_each import exponential, permute_and_flip
from dpress.noise.uniform import small

Integers = npt.NDArray[np.int64]

BLOCK = 1 << 20  # candidates of groups, or rows, at a time
LARGEST_RATIO = 1 << 20  # of the quantiles' common denominator: scores of 2^42 rows fit 63 bits
FILLED = 1 / 64  # of the candidates, by rows, where errors are predicted
ROOT = 1 << 40  # steps of epsilon under rho
DRAWS = {"permute-and-flip": permute_and_flip, "the exponential mechanism": exponential}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One quantile of the recursion.

    Args:
        place: among all quantiles.
        left: the quantile that the rows begin after; -1 for all.
        right: the quantile that they end with; as many as there are quantiles for all.
        part: of these rows that is to be below it.
    """

    place: int
    left: int
    right: int
    part: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateQuantiles:
    """Quantiles of every group, each a level; they never cross.

    Promise: d = ceil(log2(quantiles + 1)) depths, at each of which a row is in one choice. A choice's score is how
    many rows its level is away from the rank q n, or, below 0, how deep that lies within it; a row changes it by at
    most max(q, 1 - q), q being the part of the choice's own rows; k = the unit's rows, twice that where a row is
    replaced. Under epsilon: permute-and-flip at epsilon / d each, together epsilon. Under rho: the exponential
    mechanism at e = sqrt(8 rho / d) each, together d e^2 / 8. Proven.
    Error: with probability 1 - beta one choice is within 2 k max(q, 1 - q) ln(candidates / beta) / e rows of its q.
    Paper: Kaplan, Schnapp, Stemmer 2022, Algorithm 1; Smith 2011; bounded range of the exponential mechanism: Dong,
    Durfee, Rogers 2020; Cesar and Rogers 2021.

    Args:
        loss: of all quantiles of all groups together, epsilon or rho.
        unit: whom the promise protects.
        quantiles: strictly between 0 and 1, increasing; their common denominator is at most 2^20.
        places: within a level, one of which every row gets by chance, so that rows of one level come on both sides of
            it; 1 where there is one quantile.
    """

    loss: Loss
    unit: Unit = ROW
    quantiles: tuple[Fraction, ...] = (Fraction(1, 2),)
    places: int = 1

    def __post_init__(self) -> None:
        additive(self.loss, "a choice of quantiles is")
        check.count("places", self.places)
        within = {quantile for quantile in self.quantiles if 0 < quantile < 1}
        if not self.quantiles or list(self.quantiles) != sorted(within):
            raise ValueError("quantiles must be increasing and lie strictly between 0 and 1")
        if math.lcm(*(quantile.denominator for quantile in self.quantiles)) > LARGEST_RATIO:
            raise ValueError(f"the common denominator of the quantiles must be at most {LARGEST_RATIO:,}")

    @property
    def depth(self) -> int:
        """How many choices a row takes part in: ceil(log2(quantiles + 1))."""
        return len(self.quantiles).bit_length()

    @property
    def epsilon(self) -> Fraction:
        """The loss of one choice."""
        return self.loss.choice_range(self.depth, ROOT)

    @property
    def moved(self) -> int:
        """How many rows come or go where one unit changes."""
        return self.unit.rows * (2 if self.unit.relation is Relation.REPLACE_ONE else 1)

    @property
    def claim(self) -> Claim:
        """The promise, computed back from the loss of one choice, which the sampler uses."""
        loss = self.loss.of(self.depth * self.loss.choice_cost(self.epsilon))
        depths = "a single depth" if self.depth == 1 else f"{self.depth} depths"
        basis = f"{depths} of {self.loss.choosing} at epsilon {self.epsilon} against {self.moved} rows"
        return Claim(published=loss, proven=loss, unit=self.unit, basis=basis)

    def rank_variances(self, rows: float) -> tuple[float, ...]:
        """Return the expected squared error of every quantile's rank, in rows squared: an approximation, for plans.

        Rows are supposed to lie evenly in a 64th of the candidates, few at each. A rank that is r rows away then has a
        chance in proportion to exp(-r / b), b = 2 k max(q, 1 - q) / e: 2 b^2. All candidates beyond the rows have that
        of the first or the last row, n min(q, 1 - q) away, and count as n rows away. A choice within rows that earlier
        ones bound also moves with these ends: by q with the upper one, by 1 - q with the lower one.

        Args:
            rows: n, of one group, > 0.
        """
        variances, ends = dict.fromkeys((-1, len(self.quantiles)), 0.0), (0.0, *map(float, self.quantiles), 1.0)
        for node in self.nodes():
            part, rows_of_node = float(node.part), rows * (ends[node.right + 1] - ends[node.left + 1])
            b = 2 * self.moved * max(part, 1 - part) / float(self.epsilon)
            beyond = (1 - FILLED) * math.exp(-rows_of_node * min(part, 1 - part) / b)
            within = FILLED * 2 * b / rows_of_node * (1 - math.exp(-rows_of_node / (2 * b)))
            chance = beyond / (beyond + within)
            error = (1 - chance) * 2 * b**2 + chance * rows**2
            variances[node.place] = error + part**2 * variances[node.right] + (1 - part) ** 2 * variances[node.left]
        return tuple(variances[place] for place in range(len(self.quantiles)))

    def rank_errors(self, candidates: int, beta: float) -> tuple[float, ...]:
        """Return how many rows every quantile is away from its rank at most, all of them with probability 1 - beta.

        Each of m choices is within 2 k max(q, 1 - q) ln(m candidates places / beta) / e rows of its own rank, whatever
        the rows; one within rows that earlier choices bound moves with these ends. Of several quantiles a later one may
        be away by as many rows more as stand in the same places as the earlier ones.

        Args:
            candidates: how many levels there are.
            beta: the probability that one is further away.
        """
        errors = dict.fromkeys((-1, len(self.quantiles)), 0.0)
        lists = math.log(len(self.quantiles) * candidates * self.places / beta)
        for node in self.nodes():
            part = float(node.part)
            error = 2 * self.moved * max(part, 1 - part) * lists / float(self.epsilon)
            errors[node.place] = error + part * errors[node.right] + (1 - part) * errors[node.left]
        return tuple(errors[place] for place in range(len(self.quantiles)))

    def nodes(self) -> Iterator[Node]:
        """Yield the quantiles in the order that they are chosen in, depth after depth."""
        ends = (Fraction(0), *self.quantiles, Fraction(1))
        waiting = [(0, len(self.quantiles))]
        while waiting:
            for low, high in waiting:
                place = (low + high) // 2
                before, after = ends[low], ends[high + 1]
                part = (self.quantiles[place] - before) / (after - before)
                yield Node(place=place, left=low - 1, right=high, part=part)
            halves = [
                half for low, high in waiting for half in ((low, (low + high) // 2), ((low + high) // 2 + 1, high))
            ]
            waiting = [(low, high) for low, high in halves if low < high]

    def rate(self, part: Fraction) -> Fraction:
        """Return how fast the chance of a level falls with `gaps`: epsilon / (2 sensitivity)."""
        most = max(part.numerator, part.denominator - part.numerator)
        return self.epsilon / (2 * self.moved * most)

    def choose(self, counts: Integers, *, rng: Generator) -> Integers:
        """Return the quantiles' levels, shape (groups, quantiles).

        Args:
            counts: rows of every level, shape (groups, levels); about 100 bytes for each of the places of the groups
                that are worked on together, 2^20 places or one group's.
            rng: a secure generator.
        """
        groups, levels = counts.shape
        step = max(1, BLOCK // (levels * self.places))
        blocks = [self._chosen(counts[start : start + step], rng) for start in range(0, groups, step)]
        return np.concatenate(blocks) // self.places

    def _chosen(self, counts: Integers, rng: Generator) -> Integers:
        """Return the places of the quantiles of some groups."""
        placed = counts if self.places == 1 else scattered(counts, self.places, rng=rng)
        below = np.concatenate([np.zeros((len(placed), 1), dtype=np.int64), placed.cumsum(axis=1)], axis=1)
        chosen = np.empty((len(placed), len(self.quantiles)), dtype=np.int64)
        draw = DRAWS[self.loss.choosing]
        for node in self.nodes():
            first = chosen[:, node.left] + 1 if node.left >= 0 else np.zeros(len(placed), dtype=np.int64)
            last = (
                chosen[:, node.right] if node.right < len(self.quantiles) else np.full_like(first, placed.shape[1] - 1)
            )
            lowest = np.maximum(first - 1, 0) if node.left >= 0 else first
            sizes = last - lowest + 1
            gaps_of_node = gaps(below, first, lowest, last, node.part)
            chosen[:, node.place] = lowest + draw(gaps_of_node, sizes, self.rate(node.part), rng=rng)
        return chosen


def gaps(below: Integers, first: Integers, lowest: Integers, last: Integers, part: Fraction) -> Integers:
    """Return by how much every candidate is worse than its group's best, in rows times the part's denominator.

    A candidate with L rows below it and U up to it scores max(L - q n, q n - U): how far the rank q n is from it, or,
    below 0, how deep it lies within. So the level that holds the rank is the best, by as much as its rows allow.

    Args:
        below: rows below every place, shape (groups, places + 1).
        first: the place that a group's rows begin at.
        lowest: its first candidate, `first` or the place before it.
        last: its last candidate, where its rows end.
        part: q.

    Returns:
        Of all candidates of a group, one group after the other; one of every group is 0.
    """
    sizes = last - lowest + 1
    starts = np.cumsum(sizes) - sizes
    group = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(group)) - np.repeat(starts - lowest, sizes)
    every = np.arange(len(sizes))
    start = below[every, first]
    target = part.numerator * (below[every, last + 1] - start)
    lower = np.maximum(below[group, place] - start[group], 0) * part.denominator - target[group]
    upper = (below[group, place + 1] - start[group]) * part.denominator - target[group]
    scores = np.maximum(lower, -upper)
    gap: Integers = scores - np.minimum.reduceat(scores, starts)[group]
    return gap


def scattered(counts: Integers, places: int, *, rng: Generator) -> Integers:
    """Return the counts of the places within levels, where every row takes one of them by itself and uniformly.

    Args:
        counts: of the levels, shape (groups, levels).
        places: of a level.
        rng: the generator.

    Returns:
        Shape (groups, levels * places).
    """
    ends, size = counts.ravel().cumsum(), counts.size * places
    scattered_counts = np.zeros(size, dtype=np.int64)
    for start in range(0, int(ends[-1]), BLOCK):
        rows = np.arange(start, min(start + BLOCK, int(ends[-1])))
        levels = np.searchsorted(ends, rows, side="right")
        scattered_counts += np.bincount(levels * places + small(places, rows.size, rng=rng), minlength=size)
    return scattered_counts.reshape(len(counts), -1)


CARD = Card(
    name="approximate_quantiles",
    family="choice",
    model="central",
    paper="foundations: Kaplan, Schnapp, Stemmer 2022, Algorithm 1, on choices (McSherry, Talwar 2007)",
    summary="Chooses several quantiles of every group among the levels of an attribute, one half after the other.",
    method=ApproximateQuantiles,
    example=lambda loss, unit: ApproximateQuantiles(
        loss=loss, unit=unit, quantiles=(Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    ),
)
