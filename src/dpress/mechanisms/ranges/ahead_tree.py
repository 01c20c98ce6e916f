"""`ahead` over one ordered attribute: intervals that are halved in rounds, and only where people are.

cell -> a user group: one round -> interval of its partition -> oracle -> counts -> which intervals to halve, some times
over -> next round; in the end least squares over the partitions of all rounds.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import PLACE
from dpress.core.basics.rng import seeded
from dpress.core.maps.linear import Array, Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.maps.ranges import Places, Ranges
from dpress.core.reports.encoders import Interval
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.nested_partitions import NestedPartitions
from dpress.inference.normal import normal
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.growing import split, whole_counts
from dpress.mechanisms.protocol.report_type import Part, ReportType, likely_shares, per_user, rest
from dpress.mechanisms.protocol.short_reports import STEPS, Steps, short_oracle, steps_of
from dpress.mechanisms.protocol.sum_form import SumForm, sum_form
from dpress.mechanisms.ranges.bell_shares import bell, hidden
from dpress.mechanisms.ranges.level_tree import KNOWN, of_sum

LEAST = 1e-9  # variance of an interval, in counts squared, where there is one alone, which is known
ROUNDS = 5  # unless the specification says how many
RUNS, SEED = 8, 0  # simulated collections that a prediction is averaged over, the same for everybody
MOST_AT_ONCE = 16  # levels of the first round, all of whose intervals stand in the design
HALVED = 2.5  # standard deviations of a share that an interval must hold to be halved


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalCounts:
    """What came out of an earlier round; public.

    Args:
        starts: the first cell of every interval that was asked about.
        counts: how many of those who answered are estimated to be in each.
        users: how many answered.
        by: the oracle that they answered by.
    """

    starts: tuple[int, ...]
    counts: tuple[int, ...]
    users: int
    by: Oracle

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.starts) or self.by.size != len(self.starts) or self.users < 1:
            raise ValueError(f"expected a count for each of {len(self.starts)} intervals, and users >= 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AheadTree(Estimator):
    """A binary tree over one ordered attribute, grown in rounds (AHEAD).

    The first round asks about whole levels' halves. Before each later one every interval is halved whose share, as
    least squares finds it from all answers so far, exceeds 2.5 standard deviations of a share that the next round would
    estimate; so are its halves, where half of that share does, down to the levels that the round adds. An interval
    that is not halved is asked about again, and gets better known.

    Promise: pure epsilon between any two cells of one user, local model: whoever reports a round once reports once in
        all, in one round; intervals depend on earlier rounds' published estimates, of other people. Proven.
    Error: with the partitions as they are, a sum of whole intervals of the last one is sum_l g_l y_l over the rounds,
        g_l of least squares (`inference.nested_partitions`). It has the variance sum_l of g_l's weighted sum
        (`sum_form.sum_form`, the noise alone) and that of drawing who answers which round: with f the shares of the
        last partition, p_l = n_l / N and h_l = g_l / p_l, N^2 / (N - 1) times the mean over f of h's variance over p,
        less the variance over p of its mean over f. Within an interval people are taken as evenly spread over its
        cells; that error is in no variance. That partitions follow from some of the same answers is in none either.
    Paper: Du et al. 2021, AHEAD, with a threshold of its own, several levels a round, the best oracle, and least
        squares in the place of its averages; ranges, "What dpress adds".

    Args:
        shape: the number of cells of the only attribute.
        loss: epsilon.
        levels: how many times the cells are halved at most by the end of every round, rising.
        starts: the first cell of every interval that this round asks about.
        oracle: of this round, over them.
        steps: which oracle later rounds ask by, from the number of intervals; see `short_oracle`.
        earlier: what came out of earlier rounds.
        last: whether no round follows, as is known of one that has ended.
    """

    shape: tuple[int, ...]
    loss: PureDP
    levels: tuple[int, ...]
    starts: tuple[int, ...]
    oracle: Oracle
    steps: Steps = STEPS
    earlier: tuple[IntervalCounts, ...] = ()
    last: bool = False

    def __post_init__(self) -> None:
        if len(self.shape) != 1:
            raise ValueError(f"a tree is over one attribute, got {len(self.shape)}")
        if any(before >= level for before, level in zip((0, *self.levels), self.levels, strict=False)):
            raise ValueError("levels: expected numbers from 1, rising")
        if len(self.earlier) >= len(self.levels):
            raise ValueError(f"earlier: expected at most {len(self.levels) - 1} rounds, got {len(self.earlier)}")
        if self.oracle.size != len(self.starts) or self.oracle.claim.proven != self.loss:
            raise ValueError("oracle: expected one value for every interval, and the stated loss")
        coarser: set[int] = set()
        for starts in (*(counts.starts for counts in self.earlier), self.starts):
            _check_partition(starts, coarser, self.shape[0])
            coarser = set(starts)

    @property
    def rounds(self) -> tuple[int, ...]:
        """One report type a round."""
        return (1,) * len(self.levels)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked in this round."""
        encoder = Interval(cells=self.shape[0], starts=self.starts)
        return (ReportType(parts=(Part(axes=(0,), oracle=self.oracle, encoder=encoder),)),)

    @property
    def claim(self) -> Claim:
        """The promise of one report, which is all that a user sends."""
        return self.oracle.claim

    def ended(self) -> "AheadTree":
        """Return the estimator of what there is after this round."""
        return replace(self, last=True)

    def following(self, tallies: Sequence[Tally]) -> "AheadTree | None":
        """Return the next round; None after the last."""
        if self.round == len(self.levels) - 1:
            return None
        answered = self._answered(tallies)
        users = sum(counts.users for counts in answered)
        shares = self._estimated(answered) / users
        starts = self._halved(np.array(self.starts), shares, self.round + 1, users / len(answered))
        oracle = self._oracle(starts.size)
        return replace(self, earlier=answered, starts=tuple(starts.tolist()), oracle=oracle, last=False)

    def tile_starts(self, axes: Sequence[int]) -> list[Places]:
        """Return the first cell of every interval along the only attribute, and after them the number of cells."""
        del axes
        return [np.array([*self.starts, *self.shape])]

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the counts of all cells, those of an interval spread evenly, with the variances of that.

        Raises:
            ValueError: nobody reported in this round.
        """
        answered = self._answered(tallies)
        partitions, widths = self._partitions(answered), self._widths(self.starts)
        counts = np.repeat(self._estimated(answered) / widths, widths)
        spread = np.repeat(partitions.cell_variances() / widths**2, widths)
        return stacked(self.shape, ((0,),), [counts], [spread])

    def decoder(self, users: int) -> SeparateTables:
        """Return how ranges are answered."""
        return SeparateTables(self.shape, ((0,),), users, (1.0,))

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of the cells, in counts squared; see the class."""
        partitions, sums, widths = self.partitions(tallies), self.sum_forms(tallies), self._widths(self.starts)
        shares, users = self.drawn(tallies)

        def variance(weights: Sequence[Array]) -> float:
            centred = weights[0] - weights[0][0]  # everybody's number is known
            forms = partitions.forms(np.add.reduceat(centred, self.starts) / widths)
            noise = (noise_form.variance(form) for noise_form, form in zip(sums, forms, strict=True))
            return math.fsum(noise) + _drawing(partitions.spread(forms), shares, users)

        return variance

    def partitions(self, tallies: Sequence[Tally]) -> NestedPartitions:
        """Return what all rounds so far asked about, with the variances by which least squares weighs them."""
        return self._partitions(self._answered(tallies))

    def drawn(self, tallies: Sequence[Tally]) -> tuple[Array, Array]:
        """Return the likely shares of the last partition's intervals, which add up to 1, and every round's users."""
        answered = self._answered(tallies)
        shares = likely_shares(self._estimated(answered), sum(counts.users for counts in answered))
        return shares / shares.sum(), np.array([counts.users for counts in answered])

    def sum_forms(self, tallies: Sequence[Tally]) -> list[SumForm]:
        """Return for every round what gives the variance of a weighted sum of its intervals, by its noise alone."""
        answered = self._answered(tallies)
        everybody = sum(counts.users for counts in answered)
        return [_noise(counts, everybody) for counts in answered]

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, for people in a bell."""
        each = [
            float((partitions.cell_variances() / self._widths(partitions.starts[-1])).sum() / self.shape[0])
            for partitions in self.simulated(users)
        ]
        return math.fsum(each) / len(each)

    def range_error(self, users: int, ranges: Ranges) -> float:
        """Return the predicted squared error of a range, averaged over some, for people in a bell, in counts squared.

        Formula: the variance as of the class over the simulated partitions, and (N h)^2, h what the intervals that a
        range cuts hide of the bell (`bell_shares.hidden`).
        """
        shares, errors = bell(self.shape[0]), list[float]()
        for partitions in self.simulated(users):
            ends = np.append(partitions.starts[-1], self.shape[0])
            variance, widths = self._bell_variance(partitions, users), np.diff(ends)
            biases = users * hidden(ends, shares, ranges)
            for first, last, bias in zip(ranges.left - 1, ranges.right, biases, strict=True):
                held = np.clip(np.minimum(ends[1:], last) - np.maximum(ends[:-1], first), 0, None) / widths
                errors.append(variance(held) + bias**2)
        return math.fsum(errors) / len(errors)

    def _bell_variance(self, partitions: NestedPartitions, users: int) -> Callable[[Array], float]:
        """Return what gives the variance of a weighted sum of the last partition's counts of people in a bell."""
        of_cells, each = bell(self.shape[0]), users / len(partitions.starts)
        held = [np.add.reduceat(of_cells, starts) for starts in partitions.starts]
        noises = [users**2 * _variance(shares, self._oracle(shares.size), each, each) for shares in held]

        def variance(weights: Array) -> float:
            forms = partitions.forms(weights - weights[0])  # everybody's number is known
            squares = [float(((form - form.mean()) ** 2).sum()) for form in forms]
            noise = [spread * square for spread, square in zip(noises, squares, strict=True)]
            return math.fsum(noise) + _drawing(partitions.spread(forms), held[-1], np.full(len(held), each))

        return variance

    def simulated(self, users: int) -> Iterator[NestedPartitions]:
        """Yield the partitions of some simulated collections, of all rounds or up to this one if it ended.

        The cells have the shares of a bell, and so many users answer the rounds in equal parts. Nothing private is
        drawn.
        """
        rng, rounds, of_cells = seeded(SEED), self.round + 1 if self.last else len(self.levels), bell(self.shape[0])
        for _ in range(RUNS):
            starts, answers, variances = list[Places](), list[Array](), list[float]()
            for number in range(rounds):
                partition = self._whole
                if number:
                    estimate = self._nested(starts, variances).estimate(answers, float(users))
                    partition = self._halved(starts[-1], estimate / users, number, users / rounds)
                shares = np.add.reduceat(of_cells, partition)
                starts.append(partition)
                variances.append(users**2 * _variance(shares, self._oracle(partition.size), users / rounds, users))
                answers.append(users * shares + math.sqrt(variances[-1]) * normal(partition.size, rng=rng))
            yield self._nested(starts, variances)

    @staticmethod
    def _nested(starts: Sequence[Places], variances: Sequence[float]) -> NestedPartitions:
        return NestedPartitions(
            starts=tuple(starts), variances=tuple(max(LEAST, variance) for variance in variances), known=KNOWN
        )

    @property
    def _whole(self) -> Places:
        """The intervals of the first round."""
        return halves(self.shape[0], self.levels[0])

    def _halved(self, starts: Places, shares: Array, number: int, users: float) -> Places:
        """Return the partition of a round: intervals that are large enough are halved, and their halves."""
        for _ in range(self.levels[number] - self.levels[number - 1]):
            oracle, widths = self._oracle(starts.size), self._widths(starts)
            which, shares = split(shares, widths > 1, oracle, users, sure=HALVED, children=2)
            starts = _split(starts, widths, which)
        return starts

    def _estimated(self, answered: Sequence[IntervalCounts]) -> Array:
        """Return the counts of the last partition, of everybody who answered so far."""
        everybody = sum(counts.users for counts in answered)
        answers = [np.array(counts.counts, dtype=np.float64) * (everybody / counts.users) for counts in answered]
        return self._partitions(answered).estimate(answers, float(everybody))

    def _partitions(self, answered: Sequence[IntervalCounts]) -> NestedPartitions:
        everybody = sum(counts.users for counts in answered)
        variances = [
            everybody**2 * _variance(np.array(counts.counts) / counts.users, counts.by, counts.users, everybody)
            for counts in answered
        ]
        return self._nested([np.array(counts.starts, dtype=np.int64) for counts in answered], variances)

    def _answered(self, tallies: Sequence[Tally]) -> tuple[IntervalCounts, ...]:
        """Return what came out of all rounds so far, in whole counts.

        Raises:
            ValueError: nobody reported in this round.
        """
        (tally,) = tallies
        if not (users := int(tally[-1])):
            raise ValueError(f"nobody reported in round {self.round}")
        whole = tuple(map(int, whole_counts(self.oracle, tally).tolist()))
        return (*self.earlier, IntervalCounts(starts=self.starts, counts=whole, users=users, by=self.oracle))

    def _widths(self, starts: Sequence[int] | Places) -> Places:
        ends = np.append(np.asarray(starts, dtype=np.int64), self.shape[0])
        return np.asarray(ends[1:] - ends[:-1])

    def _oracle(self, size: int) -> Oracle:
        return short_oracle(size, self.loss, self.steps)


def halves(cells: int, times: int) -> Places:
    """Return the first cells of the intervals that cells halved so many times make; a single cell is not halved.

    >>> halves(5, 2).tolist()
    [0, 2, 3, 4]
    """
    starts = np.zeros(1, dtype=np.int64)
    for _ in range(times):
        widths = np.diff(starts, append=cells)
        starts = _split(starts, widths, widths > 1)
    return starts


def _split(starts: Places, widths: Places, which: npt.NDArray[np.bool_]) -> Places:
    """Return the intervals with two in the place of each that is marked, the first no shorter than the second."""
    seconds = (starts + (widths + 1) // 2)[which]
    return np.sort(np.append(starts, seconds))


def _variance(shares: Array, oracle: Oracle, users: float, everybody: float) -> float:
    """Return the variance of a share, averaged over the intervals: the oracle's, and that of who is asked.

    It is taken k / (k - 1) times, of k intervals, as the shares add up to one, or nearly; see `level_tree`.
    """
    held = np.clip(shares, 0, 1)
    of_holder, of_others = per_user(oracle, 1.0), per_user(oracle, 0.0)
    drawing = float((held * (1 - held)).mean()) * rest(everybody, users)
    return (of_others + float(held.mean()) * (of_holder - of_others) + drawing) * of_sum(shares.size) / users


def _noise(interval_counts: IntervalCounts, everybody: int) -> SumForm:
    """Return that of a round's counts as everybody's, with its oracle's variances for the likely shares."""
    counts = np.array(interval_counts.counts, dtype=np.float64)
    of_holder, of_others = (interval_counts.by.variance(interval_counts.users, share) for share in (1.0, 0.0))
    spread = of_others + likely_shares(counts, interval_counts.users) * (of_holder - of_others)
    measured = Measurement(map=Identity(counts.size), answers=counts, variance=spread)
    return sum_form(interval_counts.by, measured, interval_counts.users, everybody, drawn=False)


def _drawing(forms: Array, shares: Array, users: Array) -> float:
    """Return the variance of drawing who answers which round; see `AheadTree`.

    Args:
        forms: what an answer of every round weighs in every interval of the last partition, shape (rounds, intervals).
        shares: of these, which add up to 1.
        users: the users of every round.
    """
    everybody = int(users.sum())
    part = users / everybody
    scaled, means = forms / part[:, None], forms @ shares / part
    within = shares @ (part @ scaled**2 - (part @ scaled) ** 2)
    explained = part @ means**2 - (part @ means) ** 2
    return max(0.0, float(within - explained)) * everybody**2 / max(everybody - 1, 1)


def _check_partition(starts: Sequence[int], coarser: set[int], cells: int) -> None:
    rising = all(start < following for start, following in zip(starts, (*starts[1:], cells), strict=True))
    if not starts or starts[0] != 0 or not rising or not coarser.issubset(starts):
        raise ValueError(f"starts: expected first cells from 0 up to {cells - 1}, rising, with those of earlier rounds")


def ahead_tree(cells: int, loss: PureDP, *, rounds: int | None = None, oracle: str | None = None) -> AheadTree:
    """Return the first round over so many cells.

    Args:
        cells: of the attribute.
        loss: epsilon.
        rounds: at most log2 of the cells, rounded up, and at least a sixteenth of that; left out, 5 at most.
        oracle: the name of the oracle that every interval is asked by; left out, the best one for their number.

    Raises:
        ValueError: a parameter is wrong, named with its place.
    """
    height = max(1, (cells - 1).bit_length())
    if rounds is not None and check.count("rounds", rounds) > height:
        raise ValueError(f"{PLACE}.rounds: expected at most {height}, how often the cells are halved, got {rounds}")
    number, fewest = rounds or min(height, ROUNDS), -(-height // MOST_AT_ONCE)
    if number < fewest:
        raise ValueError(
            f"{PLACE}.rounds: expected at least {fewest}, as the first asks about all intervals, got {rounds}"
        )
    levels = tuple(-(-height * round_number // number) for round_number in range(1, number + 1))
    starts, steps = tuple(halves(cells, levels[0]).tolist()), steps_of(oracle)
    short = short_oracle(len(starts), loss, steps)
    return AheadTree(shape=(cells,), loss=loss, levels=levels, starts=starts, oracle=short, steps=steps)
