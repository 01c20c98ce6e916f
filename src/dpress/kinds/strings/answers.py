"""Answers of a release of strings: the count of every string that noise alone would not reach, and the rest.

kept tallies of a round -> counts of all whole strings so far -> those released, the rest -> a table, queries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Mechanism
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.strings.pem import Pem
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM, FoundStrings
from dpress.query.answering import Answering
from dpress.query.found_values import FoundValues, searched
from dpress.release.plan.linear_error import predicted


@dataclass(frozen=True, kw_only=True)
class Answers(FoundValues):
    """Counts of strings."""

    @property
    def method(self) -> Pem:
        """What found them."""
        return pem_of(self.release.mechanism)

    @cached_property
    def tested(self) -> FoundStrings:
        """All whole strings that a prefix grew to, released or not."""
        collection: Any = self.release.mechanism
        return self.method.found(collection.split_tally(self.release.kept))

    @cached_property
    def places(self) -> tuple[int, ...]:
        """Which of those are released, the largest count first; one that is called as the rest is counts there."""
        tested, rest = self.tested, searched(self.release).extra
        places = [place for place in np.flatnonzero(tested.released).tolist() if tested.strings[place] not in rest]
        return tuple(sorted(places, key=lambda place: -tested.counts[place]))

    @property
    def values(self) -> tuple[str, ...]:
        """The released strings, the most frequent first."""
        return tuple(self.tested.strings[place] for place in self.places)

    @cached_property
    def counts(self) -> Array:
        """The estimated count of every released string, then of the rest, shape (strings + 1,)."""
        counts = self.tested.counts[[*self.places]]
        return np.append(counts, self.release.reports - counts.sum())

    @cached_property
    def variances(self) -> Array:
        """The variances of the counts, shape (strings + 1,)."""
        return np.append(self.tested.variances[[*self.places]], self.rest_variance)

    def variance_of(self, weights: Array) -> float:
        """Return the variance of a weighted sum of the counts, those of several strings with their covariances.

        The rest is all users less the released strings, so that w y + w_i y_i varies as (w_i - w) y_i.
        """
        spread = np.zeros(len(self.tested.strings))
        spread[[*self.places]] = weights[:-1] - weights[-1]
        return self.tested.sum_variance(spread)

    def level(self, confidence: float) -> float:
        """Return the confidence of each interval, so that of those released so many hold on average.

        Formula: 1 - (1 - confidence) R / m, R strings released of m tested: the false coverage rate (Benjamini,
        Yekutieli 2005). Where none is released, the confidence itself.
        """
        released, tested = len(self.places), len(self.tested.strings)
        return 1 - (1 - confidence) * released / tested if released else confidence

    @property
    def announced(self) -> tuple[str, ...]:
        """How many strings were found, and what the next round goes on with."""
        return (self.summary,)

    @property
    def summary(self) -> str:
        """How many strings were released of those tested, in a sentence."""
        method = self.method
        name, tested = searched(self.release).name, len(self.tested.strings)
        done = method.round + 1, len(method.rounds)
        rounds = f"round {done[0]} of {done[1]}"
        if not tested and not self.following:
            return f"Nothing found of {name} in {rounds}: no beginning of a string stands out of the noise."
        going = "" if done[0] == done[1] else f", {self.following:,} to go on with"
        return f"Found:   {len(self.places):,} of {tested:,} strings of {name} tested in {rounds}{going}"

    @cached_property
    def following(self) -> int:
        """How many prefixes and strings the next round asks about."""
        collection: Any = self.release.mechanism
        following = self.method.following(collection.split_tally(self.release.kept))
        return 0 if following is None else len(following.prefixes) + len(following.strings)

    @property
    def selected(self) -> str:
        """What the selection does to counts and intervals, in a sentence."""
        return (
            "Only strings are released whose count noise alone would not reach, but for a chance of "
            f"{100 * FALSE_ALARM:g} % that any is released which nobody holds. Intervals are wider for it; counts near "
            "the threshold are too high on average."
        )

    @property
    def described(self) -> Mapping[str, Any]:
        """How many strings were released, and of how many."""
        return {"strings": len(self.places), "tested": len(self.tested.strings)}

    @property
    def remarks(self) -> tuple[str, ...]:
        """How many strings were found."""
        return (self.summary,)


def pem_of(mechanism: Mechanism) -> Pem:
    """Return the method of a collection of strings."""
    return cast("Pem", method_of(mechanism))


ANSWERING = Answering(answers=Answers, predicted=predicted)
