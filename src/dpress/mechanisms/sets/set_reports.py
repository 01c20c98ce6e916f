"""Reports of a set of values: some of all values and dummies, more often such that the user holds one of them.

set -> at most `cap` of its values -> those that are asked about, filled up with dummies -> w of all -> packed bits.
"""

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpress.attributes.sets.attribute import MOST_VALUES, Members, Words, members
from dpress.core.basics import bits, check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.rng import Generator
from dpress.core.maps.measurement import Measurement
from dpress.core.reports import payload
from dpress.core.reports.oracle import Channel, Mask, Payloads, Tally
from dpress.inference import frequencies
from dpress.noise.bit_coins import coins
from dpress.noise.response import LEFT_OUT, resolve_probability
from dpress.noise.whole_weights import by_weight, sets_of

PART = 1 << 23  # truths about users and values that are worked on at a time


@functools.lru_cache(maxsize=4096)
def best_weight(size: int, cap: int, loss: PureDP) -> int:
    """Return the number of values of a report, w, of the smallest variance of the count of a value that nobody holds.

    Formula: of q (1 - q) / (p - q)^2 over w = 1, ..., the first beyond (size + cap) / cap.

    Args:
        size: of the values that are asked about.
        cap: the most of them that a user holds, at most `size`.
        loss: epsilon.
    """
    growth, whole = math.exp(min(700.0, float(loss.epsilon))), size + cap

    def variance(weight: int) -> float:
        all_sets = math.comb(whole, weight)
        missing = math.comb(whole - cap, weight) / all_sets
        once = math.comb(whole - 1, weight - 1) / all_sets
        p = growth * once / (growth * (1 - missing) + missing)
        q = (weight - cap * p) / (whole - cap)
        return q * (1 - q) / (p - q) ** 2 if p > q else math.inf

    return min(range(1, min(whole - cap, whole // cap + 1) + 1), key=variance)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReports(frequencies.PureOracle):
    """w of the values that are asked about and of c dummies; sets that hold one of the user's own e^eps times as often.

    Flow: of a set of more than `cap` values as many, drawn at random, stay; of those that are asked about and the first
    dummies there are c = min(cap, size). A report meets these c with probability `meets`, then all sets of w that meet
    them are equally likely; else all that do not.

    Promise: pure epsilon between any two sets of values, of any size, also empty ones, local model: for
        A = C(k, w) - C(k - c, w) sets that meet the c of k = size + c, and B = C(k - c, w) that do not, a report is
        meets / A or (1 - meets) / B likely, whatever the c are; their ratio is at most e^epsilon. What stays of a
        larger set mixes such reports. Proven.
    Error: variance of a count (n_v p (1 - p) + (N - n_v) q (1 - q)) / (p - q)^2, p = meets C(k - 1, w - 1) / A and
        q = (w - c p) / (k - c), of the sets that stay; a value of a set of m > cap counts cap / m on average.
    Paper: Wang, Huang, Nie, Xiao, Xu, Yang 2018 (PrivSet).

    Args:
        values: of the list.
        first: the place of the first value that is asked about.
        size: how many are, one after the other.
        cap: the most values of a user.
        loss: epsilon.
        weight: w; 0, left out, stands for the one of the smallest variance.
        meets: P(a report meets the set); left out, the largest that epsilon allows.
    """

    values: int
    first: int
    size: int
    cap: int
    loss: PureDP
    weight: int = 0
    meets: Fraction = LEFT_OUT

    def __post_init__(self) -> None:
        payload.check_domain(self.values, self.loss, largest=MOST_VALUES)
        if check.count("first", self.first, least=0) + check.count("size", self.size) > self.values:
            raise ValueError("first, size: expected some of the values")
        if check.count("cap", self.cap) > self.values:
            raise ValueError(f"cap must be at most {self.values}, got cap={self.cap}")
        w = check.count("weight", self.weight, least=0) or best_weight(self.size, self.held, self.loss)
        if w > self.size:
            raise ValueError(f"weight must be at most {self.size}, got weight={w}")
        object.__setattr__(self, "weight", w)
        meeting, missing = self._sets
        meets = resolve_probability(self.meets, self.loss.epsilon, Fraction(missing, meeting))
        object.__setattr__(self, "meets", meets)

    @property
    def held(self) -> int:
        """How many of the values and dummies a user has, c."""
        return min(self.cap, self.size)

    @property
    def positions(self) -> int:
        """How many values and dummies there are, k."""
        return self.size + self.held

    @property
    def _sets(self) -> tuple[int, int]:
        """How many sets of w meet a user's c, and how many do not."""
        missing = math.comb(self.size, self.weight)
        return math.comb(self.positions, self.weight) - missing, missing

    @property
    def p(self) -> Fraction:
        """P(a report has v) for a user who holds v."""
        return self.meets * Fraction(math.comb(self.positions - 1, self.weight - 1), self._sets[0])

    @property
    def q(self) -> Fraction:
        """P(a report has v) for a user who does not hold v."""
        return (self.weight - self.held * self.p) / self.size

    @property
    def width(self) -> int:
        """The number of bytes of k bits."""
        return bits.width(self.positions)

    @property
    def claim(self) -> Claim:
        """The promise, from the probability that the sampler uses."""
        drawn = f"random {self.weight} of {self.size} values and {self.held} dummies"
        basis = f"{drawn}, some of {self.held} of one's own among them with probability {self.meets}"
        return Claim(published=self.loss, proven=self.loss, unit=payload.ANY_TWO_VALUES, basis=basis)

    def perturb(self, values: Words, *, rng: Generator) -> Payloads:
        """Return one report for every set.

        Args:
            values: the codes of sets (`attributes.sets.attribute`), shape (words, users).
            rng: a secure generator.

        Raises:
            ValueError: a code is none of its word (it is not shown).
        """
        codes = np.atleast_2d(np.asarray(values))
        step = max(1, PART // self.values)
        parts = [members(codes[:, start : start + step], self.values) for start in range(0, codes.shape[1], step)]
        blocks = [self._reports(part, rng=rng) for part in parts]
        return np.concatenate(blocks) if blocks else np.zeros((0, self.width), dtype=np.uint8)

    def _reports(self, held: Members, *, rng: Generator) -> Payloads:
        padded = self._padded(self._capped(held, rng=rng))
        meet = coins(self.meets, len(held), rng=rng)
        shared = np.zeros(len(held), dtype=np.int64)
        shared[meet] = 1 + by_weight(self._shared[1:], int(meet.sum()), rng=rng)
        chosen = sets_of(padded, shared, rng=rng) | sets_of(~padded, self.weight - shared, rng=rng)
        return np.packbits(chosen, axis=1, bitorder="little")

    @property
    def _shared(self) -> list[int]:
        """By their number, in how many sets of w so many of a user's c are."""
        c, w = self.held, self.weight
        return [math.comb(c, number) * math.comb(self.size, w - number) for number in range(min(c, w) + 1)]

    def _capped(self, held: Members, *, rng: Generator) -> Members:
        """Return sets of which at most `cap` values stay, drawn at random."""
        many = np.flatnonzero(np.count_nonzero(held, axis=1) > self.cap)
        if not many.size:
            return held
        out = held.copy()
        out[many] = sets_of(held[many], np.full(many.size, self.cap), rng=rng)
        return out

    def _padded(self, held: Members) -> Members:
        """Return the asked values of sets of at most `cap`, and behind them the first dummies, c in all."""
        covered = held[:, self.first : self.first + self.size]
        spare = self.held - np.count_nonzero(covered, axis=1)
        return np.concatenate([covered, np.arange(self.held) < spare[:, None]], axis=1)

    def faults(self, payloads: Payloads) -> Mapping[str, Mask]:
        """Return which reports have a bit beyond the last dummy, or not w bits."""
        return {"padding": bits.padded(payloads, self.positions), "weight": bits.weights(payloads) != self.weight}

    def tally(self, payloads: Payloads) -> Tally:
        """Return how many reports have each value, and the squares of how many values each has added up."""
        counts = bits.column_counts(payloads, self.size)
        mask = np.packbits(np.arange(self.positions) < self.size, bitorder="little")
        sizes = bits.weights(payloads & mask)
        return np.append(counts, sizes @ sizes)

    def estimate(self, tally: Tally, users: int) -> Measurement:
        """Return the unbiased counts of the values that are asked about, with their variance."""
        return frequencies.counts(tally[:-1], users, self.p, self.q)

    def held_values(self, tally: Tally, users: int) -> tuple[float, float]:
        """Return how many of the values a user holds on average, and the variance of that, people's own beside.

        Formula: the mean of (y - size q) / (p - q), y how many values a report has, and its empirical variance, the
        bounds of one more user added.
        """
        slope, least = float(self.p - self.q), self.size * float(self.q)
        total, squares = int(tally[:-1].sum()), int(tally[-1])
        mean = (total / users - least) / slope
        spread = max(0.0, squares - total**2 / users) / users
        return mean, (spread + self.weight**2 / users) / slope**2 / users

    def channel(self) -> Channel:
        """Return the exact channel; row i is for the set whose values are the bits of i.

        Raises:
            NotSupported: there are more than 2^16 reports, or 2^24 probabilities.
        """
        reports = math.comb(self.positions, self.weight)
        payload.check_channel(reports, 1 << min(self.values, 64))
        sets = list(itertools.combinations(range(self.positions), self.weight))
        rows = np.zeros((len(sets), self.positions), dtype=np.uint8)
        for row, members_of in zip(rows, sets, strict=True):
            row[list(members_of)] = 1
        probabilities = tuple(self._row(rows, held) for held in range(1 << self.values))
        return Channel(payloads=np.packbits(rows, axis=1, bitorder="little"), probabilities=probabilities)

    def _row(self, reports: Payloads, held: int) -> tuple[Fraction, ...]:
        """Return the probability of every report by a user of a set: the mean over what may stay of it."""
        held_values = [value for value in range(self.values) if held >> value & 1]
        kept = list(itertools.combinations(held_values, min(len(held_values), self.cap)))
        meeting, missing = self._sets
        total = [Fraction(0)] * len(reports)
        for stays in kept:
            mine = self._padded(np.isin(np.arange(self.values), stays)[None])[0]
            meet: Mask = np.any(reports[:, mine], axis=1)
            likely = (self.meets / meeting if hit else (1 - self.meets) / missing for hit in meet)
            total = [before + more for before, more in zip(total, likely, strict=True)]
        return tuple(summed / len(kept) for summed in total)
