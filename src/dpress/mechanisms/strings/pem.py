"""`pem`: strings that nobody listed, found by asking about prefixes that grow from round to round.

string -> a user group: one round -> which candidate it begins with -> oracle -> counts -> the largest prefixes, longer
by some bits in the next round; strings that have ended are counted again in every later round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.text.attribute import MOST_BYTES, StringCandidates
from dpress.core.basics import check
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.maps.linear import Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.mechanism import Card
from dpress.core.reports.oracle import Oracle, Tally
from dpress.inference.separate_tables import SeparateTables
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.growing import whole_counts
from dpress.mechanisms.protocol.report_type import Part, ReportType, per_user
from dpress.mechanisms.protocol.short_reports import Steps, short_oracle
from dpress.mechanisms.strings.growing_prefixes import Grown, grown
from dpress.mechanisms.strings.string_estimates import FoundStrings, StringCounts, alarm, pooled

CANDIDATES = 20  # bits: so many candidates a round asks about
MOST_KEPT = 1024
NOISE = 4  # one of so many prefixes may be kept by noise alone, on average
STEPS: Steps = ((1 << 10, "subset_selection"), (1 << 26, "pgr"))


def extension_rounds(longest: int, kept: int) -> int:
    """Return in how many rounds prefixes grow until the longest string is whole: 20 bits, then 20 - log2 kept a round.

    >>> extension_rounds(16, 128)
    10
    """
    step = CANDIDATES - (kept - 1).bit_length()
    return 1 + -(-max(0, 8 * longest - CANDIDATES) // step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pem(Estimator):
    """The prefix extending method, with an answer short in every round and a test at the end.

    A round asks: which of these prefixes does your string begin with, and how does it go on; or which of these whole
    strings is it; or none? Of the counts of the extended prefixes, those are kept that noise alone exceeds for a
    quarter of `kept` candidates on average, at most the `kept` largest that a text in UTF-8 may begin with. A
    prefix that ends in a zero byte is a whole string, and is asked about in every later round; a last round asks about
    whole strings only. A string is counted by rounds after the one that found it, so by other users.

    Promise: pure epsilon between any two strings of one user, local model: whoever reports a round once reports once
        in all, in one round; candidates depend on earlier rounds' published estimates, of other people. Proven.
    Error: of a count, `string_estimates.pooled`. A string is released where its count exceeds what noise alone would
        with a chance of 5 % among all strings tested (Bonferroni, normal approximation).
    Paper: Wang, Li, Jha 2018, PEM, with rounds, the best oracle for every list, and counts by users of their own.

    Args:
        longest: the bytes of the longest string.
        kept: the most prefixes that a round hands on.
        loss: epsilon.
        oracle: of this round, over its candidates and all others.
        known: how many bits this round's prefixes have.
        bits: how many it asks for.
        prefixes: that it asks about, as `StringCandidates` has them.
        strings: whole ones that it asks about.
        earlier: what earlier rounds say of whole strings.
    """

    longest: int
    kept: int
    loss: PureDP
    oracle: Oracle
    known: int
    bits: int
    prefixes: tuple[str, ...]
    strings: tuple[str, ...]
    earlier: tuple[StringCounts, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= check.count("kept", self.kept) <= MOST_KEPT:
            raise ValueError(f"kept: expected 1 to {MOST_KEPT}, got {self.kept}")
        if not 1 <= check.count("longest", self.longest) <= MOST_BYTES:
            raise ValueError(f"longest: expected 1 to {MOST_BYTES} bytes, got {self.longest}")
        if len(self.earlier) >= len(self.rounds):
            raise ValueError(f"earlier: expected at most {len(self.rounds) - 1} rounds, got {len(self.earlier)}")
        if self.oracle.size != self._candidates("strings").size or self.oracle.claim.proven != self.loss:
            raise ValueError("oracle: expected one value for every candidate, and the stated loss")
        later = set(self.strings)
        if any(not later.issuperset(counts.strings) for counts in self.earlier):
            raise ValueError("earlier: expected strings that this round asks about")

    @property
    def rounds(self) -> tuple[int, ...]:
        """One report type a round: those that extend prefixes, and the last, which counts."""
        return (1,) * (extension_rounds(self.longest, self.kept) + 1)

    @property
    def types(self) -> tuple[ReportType, ...]:
        """What devices are asked in this round."""
        return (ReportType(parts=(Part(axes=(0,), oracle=self.oracle),)),)

    @property
    def claim(self) -> Claim:
        """The promise of one report, which is all that a user sends."""
        return self.oracle.claim

    def coded(self, attributes: tuple[Tabular, ...]) -> tuple[Tabular, ...]:
        """Return the attribute with this round's candidates."""
        listing = attributes[0].listing if len(attributes) == 1 else None
        if listing is None or not listing.discovered:
            raise ValueError("expected one attribute whose values are to be discovered")
        words = {name: getattr(listing, name) for name in ("other", "null", "title", "unit", "column")}
        return (self._candidates(listing.name, **words),)

    def _candidates(self, name: str, **words: object) -> StringCandidates:
        lengths = {"longest": self.longest, "known": self.known, "bits": self.bits}
        return StringCandidates(name=name, prefixes=self.prefixes, strings=self.strings, **lengths, **words)  # type: ignore[arg-type]  # of a Categorical

    def decoder(self, users: int) -> SeparateTables:
        """Return the table of this round's candidates."""
        return SeparateTables((self.oracle.size,), ((0,),), users, (1.0,))

    def following(self, tallies: Sequence[Tally]) -> "Pem | None":
        """Return the next round; None after the last, and where nothing is left to ask about."""
        if self.round == len(self.rounds) - 1:
            return None
        earlier, longer = self._answered(tallies), self._grown(tallies[0])
        strings = tuple(sorted({*self.strings, *longer.strings}, key=str.encode))
        if not strings and not longer.prefixes:
            return None
        depth, bits = self.known + self.bits, 0
        if longer.prefixes:
            bits = min(8 * self.longest - depth, CANDIDATES - (len(longer.prefixes) - 1).bit_length())
        size = (len(longer.prefixes) << bits) + len(strings) + 1
        fields = {"known": depth, "bits": bits, "prefixes": longer.prefixes, "strings": strings, "earlier": earlier}
        return replace(self, oracle=short_oracle(size, self.loss, STEPS), **fields)  # type: ignore[arg-type]  # as named

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return how many of those who answered this round are estimated to hold each candidate."""
        estimate = self.oracle.estimate(tallies[0][:-1], int(tallies[0][-1]))
        return Measurement(map=Identity(self.oracle.size), answers=estimate.answers, variance=estimate.variance)

    def found(self, tallies: Sequence[Tally]) -> FoundStrings:
        """Return the counts of all whole strings that this round asked about, among everybody so far."""
        answered = self._answered(tallies)
        return pooled(answered, sum(counts.users for counts in answered))

    def mean_variance(self, users: int) -> float:
        """Return the variance of the count of a rare string that only the last round counts, in counts squared."""
        return users * len(self.rounds) * per_user(short_oracle(self.kept + 1, self.loss, STEPS), 0.0)

    def chance(self, count: float, users: int) -> float:
        """Return about how likely a string is found at least that so many users hold: one that shares no prefix.

        Its count must exceed the threshold of every round, of as many candidates as a round may have.
        """
        share, per_round, chance = count / users, users / len(self.rounds), 1.0
        for last in (False, True):
            size = self.kept + 1 if last else 1 << CANDIDATES
            oracle, wanted = short_oracle(size, self.loss, STEPS), alarm(self.kept) if last else self._wanted(size)
            holding, alone = (math.sqrt(per_user(oracle, held) / per_round) for held in (share, 0.0))
            chance *= NormalDist().cdf((share - wanted * alone) / holding) ** (1 if last else len(self.rounds) - 1)
        return chance

    def count_for(self, chance: float, users: int) -> int:
        """Return the smallest count of a string that is found with at least this chance; see `chance`."""
        low, high = 0, users
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.chance(middle, users) >= chance else (middle, high)
        return high

    def _wanted(self, candidates: int) -> float:
        """Return how many standard deviations a prefix's count must have, to be kept."""
        return max(0.0, -NormalDist().inv_cdf(min(0.5, self.kept / NOISE / candidates)))

    def _grown(self, tally: Tally) -> Grown:
        """Return the prefixes and strings that this round's largest counts leave."""
        candidates, users = len(self.prefixes) << self.bits, int(tally[-1])
        if not candidates or not users or not self.bits:
            return Grown((), ())
        counts = self.oracle.estimate(tally[:-1], users).answers[:candidates]
        wanted = self._wanted(candidates) * math.sqrt(users * per_user(self.oracle, 0.0))
        order = np.flatnonzero(counts > wanted)
        order = order[np.argsort(-counts[order], kind="stable")]
        heads = [int(prefix or "0", 16) >> (-self.known % 8) for prefix in self.prefixes]
        named = (heads[place >> self.bits] << self.bits | place & ((1 << self.bits) - 1) for place in order.tolist())
        return grown(named, self.known + self.bits, self.longest, self.kept)

    def _answered(self, tallies: Sequence[Tally]) -> tuple[StringCounts, ...]:
        """Return what all rounds so far say of whole strings, in whole counts."""
        users, start = int(tallies[0][-1]), len(self.prefixes) << self.bits
        counts = whole_counts(self.oracle, tallies[0]) if self.strings else np.zeros(self.oracle.size)
        whole = tuple(map(int, counts[start : start + len(self.strings)].tolist()))
        return (*self.earlier, StringCounts(strings=self.strings, counts=whole, users=users, by=self.oracle))


def pem(longest: int, kept: int, loss: PureDP) -> Pem:
    """Return the first round: every way to begin a string.

    Args:
        longest: the bytes of the longest string, up to 32.
        kept: the most prefixes that a round hands on, up to 1024.
        loss: epsilon.
    """
    bits = min(8 * longest, CANDIDATES)
    oracle = short_oracle((1 << bits) + 1, loss, STEPS)
    return Pem(longest=longest, kept=kept, loss=loss, oracle=oracle, known=0, bits=bits, prefixes=("",), strings=())


def _example(loss: Loss) -> Pem:
    """Return a last round of few strings, whose channel can be written down."""
    loss = pure(loss, "reports in rounds are calibrated to epsilon")
    first = pem(1, 4, loss)
    nothing = StringCounts(strings=(), counts=(), users=0, by=first.oracle)
    strings, oracle = ("a", "b", "c"), short_oracle(4, loss, STEPS)
    return replace(first, oracle=oracle, known=8, bits=0, prefixes=(), strings=strings, earlier=(nothing,))


CARD = Card(
    name="pem",
    family="strings",
    model="local",
    paper="local: prefix extension (Wang, Li, Jha 2018)",
    summary="Strings that nobody listed, by prefixes that grow from round to round; counts with a test against noise.",
    method=Pem,
    example=lambda loss, unit: _example(loss),  # noqa: ARG005  # a local claim has its own unit
)
