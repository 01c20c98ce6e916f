"""Answers of a release of strings: the count of every string that noise alone would not reach, and the rest.

kept tallies of a round -> counts of all whole strings so far -> those released, the rest -> a table, queries.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.domain import Schema
from dpress.core.linear import Array
from dpress.core.listed_attribute import Categorical
from dpress.core.mechanism import Mechanism
from dpress.core.oracle import Tally
from dpress.core.pieces import PayloadPieces
from dpress.inference.interval import half_width
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.strings.pem import Pem
from dpress.mechanisms.strings.string_estimates import FALSE_ALARM, FoundStrings
from dpress.release.answers import KeptAnswers, Part, Progress, PublishedOnly
from dpress.release.published_tables import CONFIDENCE, PublishedTable
from dpress.release.query_language import parse
from dpress.release.release import Release
from dpress.release.result import Result

FILE = "table_1.parquet"


@dataclass(frozen=True, kw_only=True)
class Answers(PublishedOnly):
    """Counts of strings.

    Args:
        release: whose kept tallies are answered from.
    """

    release: Release

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
        tested, rest = self.tested, _asked(self.release).extra
        found = [one for one in np.flatnonzero(tested.released).tolist() if tested.strings[one] not in rest]
        return tuple(sorted(found, key=lambda one: -tested.counts[one]))

    @property
    def strings(self) -> tuple[str, ...]:
        """The released strings, the most frequent first."""
        return tuple(self.tested.strings[one] for one in self.places)

    @cached_property
    def attribute(self) -> Categorical:
        """The attribute with the released strings as its values, and the rest as the last one."""
        asked = _asked(self.release)
        return Categorical(name=asked.name, title=asked.title, unit=asked.unit, values=(*self.strings, *asked.extra))

    @cached_property
    def counts(self) -> Array:
        """The estimated count of every released string, then of the rest, shape (strings + 1,)."""
        own = self.tested.counts[[*self.places]]
        return np.append(own, self.release.users - own.sum())

    @cached_property
    def variances(self) -> Array:
        """The variances of the counts, shape (strings + 1,)."""
        return np.append(self.tested.variances[[*self.places]], self._variance(np.ones(len(self.places))))

    def _variance(self, weights: Array) -> float:
        """Return at most the variance of a weighted sum of the released counts."""
        spread = np.zeros(len(self.tested.strings))
        spread[[*self.places]] = weights
        return self.tested.sum_variance(spread)

    def level(self, confidence: float) -> float:
        """Return the confidence of each interval, so that of those released so many hold on average.

        Formula: 1 - (1 - confidence) R / m, R strings released of m tested: the false coverage rate (Benjamini,
        Yekutieli 2005). Where none is released, the confidence itself.
        """
        released, tested = len(self.places), len(self.tested.strings)
        return 1 - (1 - confidence) * released / tested if released else confidence

    def query(self, text: str, *, confidence: float, progress: Progress | None) -> Result:
        """Answer a query such as `word = tea`, `word in (tea, other)` or `total`.

        Error: that of the sum of the counts that are asked for, or of all others where the rest is among them: of one
        string exact, of several at most so large (`FoundStrings.sum_variance`).

        Args:
            text: the query.
            confidence: of the interval.
            progress: not used.

        Raises:
            ValueError: the text is no query on this attribute, or names what was not released.
        """
        del progress
        (weights,) = parse(Schema((self.attribute,)), text)
        variance = self._variance(weights[:-1] - weights[-1])
        half = half_width(variance, self.level(confidence), self.release.tail)
        note = None if np.all(weights == weights[-1]) else self.selected
        return Result.of_count(text, float(weights @ self.counts), variance, half, confidence, note)

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {FILE: self.release.schema.names}

    @property
    def announced(self) -> tuple[str, ...]:
        """How many strings were found, and what the next round goes on with."""
        return (self.summary,)

    @property
    def summary(self) -> str:
        """How many strings were released of those tested, in a sentence."""
        own = self.method
        name, tested = _asked(self.release).name, len(self.tested.strings)
        done = own.round + 1, len(own.depths)
        rounds = f"round {done[0]} of {done[1]}"
        if not tested and not self.following:
            return f"Nothing found of {name} in {rounds}: no beginning of a string stands out of the noise."
        going = "" if done[0] == done[1] else f", {self.following:,} to go on with"
        return f"Found:   {len(self.places):,} of {tested:,} strings of {name} tested in {rounds}{going}"

    @cached_property
    def following(self) -> int:
        """How many prefixes and strings the next round asks about."""
        collection: Any = self.release.mechanism
        found = self.method.following(collection.split_tally(self.release.kept))
        return 0 if found is None else len(found.prefixes) + len(found.strings)

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

    def published(self) -> Iterator[PublishedTable]:
        """Yield the table: a row for every released string, the most frequent first, then one for the rest."""
        yield PublishedTable(
            name=FILE,
            axes=(self.attribute,),
            count=self.counts,
            variance=self.variances,
            adjusted=None,
            tail=self.release.tail,
            level=self.level(CONFIDENCE),
        )

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table."""
        del progress
        yield from self.published()

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the table with the name of its attribute."""
        for one in self.published():
            yield self.release.schema.names, one

    def overview(self, cells: int) -> Iterator[PublishedTable]:
        """Yield the table where it is small enough."""
        if len(self.places) < cells:
            yield from self.published()

    @property
    def remarks(self) -> tuple[str, ...]:
        """How many strings were found."""
        return (self.summary,)


def predicted(mechanism: Mechanism, workload: object) -> float | None:
    """Return the variance of the count of a string that the last round alone counts."""
    del workload
    return mechanism.mean_variance(mechanism.users) if isinstance(mechanism, Collection) else None


def collected(collection: Collection, tallies: list[Tally], payloads: PayloadPieces) -> KeptAnswers:
    """Return the tallies."""
    del payloads
    return live(collection, tallies)


def live(collection: Collection, tallies: list[Tally]) -> KeptAnswers:
    """Return the tallies."""
    del collection
    return KeptAnswers(answers=np.concatenate(tallies))


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> None:
    """Return nothing: the tallies and the design say all."""
    del release, description, folder


def pem_of(mechanism: Mechanism) -> Pem:
    """Return the method of a collection of strings."""
    found = mechanism.estimator if isinstance(mechanism, Collection) else None
    if not isinstance(found, Pem):
        raise TypeError(f"{type(found).__name__} finds no strings")
    return found


def _asked(release: Release) -> Categorical:
    asked = release.schema.attributes[0]
    if not isinstance(asked, Categorical):
        raise TypeError(f"{asked.name} has no strings")
    return asked
