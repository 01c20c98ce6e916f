"""Answers of a release of names: the noisy count of every name that was released, and what is left of the noisy total.

kept integers (total, counts) and names -> counts without the noise's mean, the rest -> a table, queries.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpress.core.domain import Schema
from dpress.core.errors import SchemaMismatch
from dpress.core.linear import Array
from dpress.core.listed_attribute import Categorical
from dpress.core.mechanism import Mechanism, NameMechanism
from dpress.core.name_counts import LONGEST_NAME, NoisyNames
from dpress.core.rng import Generator
from dpress.inference.interval import half_width
from dpress.release.answers import KeptAnswers, Part, Progress, PublishedOnly
from dpress.release.folder import columns
from dpress.release.published_tables import PublishedTable
from dpress.release.query_language import parse
from dpress.release.release import Release
from dpress.release.result import Result

FILE = "table_1.parquet"


@dataclass(frozen=True, kw_only=True)
class Answers(PublishedOnly):
    """Counts of names.

    Args:
        release: whose kept integers are answered from.
    """

    release: Release

    @property
    def names(self) -> tuple[str, ...]:
        """The names that were released, in the order of their bytes."""
        names: tuple[str, ...] = self.release.detail
        return names

    @property
    def mechanism(self) -> NameMechanism:
        """What selected them."""
        found = self.release.mechanism
        if not isinstance(found, NameMechanism):
            raise TypeError(f"{type(found).__name__} releases no names")
        return found

    @cached_property
    def attribute(self) -> Categorical:
        """The attribute with the released names as its values, and the rest as the last one."""
        asked = _asked(self.release)
        return Categorical(name=asked.name, title=asked.title, unit=asked.unit, values=(*self.names, *asked.extra))

    @cached_property
    def counts(self) -> Array:
        """The estimated count of every name, then of the rest, shape (names + 1,)."""
        total, *noisy = self.release.kept.tolist()
        own = np.asarray(noisy, dtype=np.float64) - self.mechanism.mean
        return np.append(own, total - math.fsum(own))

    @cached_property
    def variances(self) -> tuple[float, float]:
        """The variance of the count of a name, and of the total, in counts squared."""
        mechanism = self.mechanism
        return mechanism.variance, mechanism.total_variance

    def query(self, text: str, *, confidence: float, progress: Progress | None) -> Result:
        """Answer a query such as `product = tea`, `product in (tea, other)` or `total`.

        Error: the answer is w T + sum (w_i - w) y_i, T the noisy total and y_i the counts, with the weights w_i of the
        names and w of the rest that the query asks for; so its variance is w^2 Var T + sum (w_i - w)^2 Var y, exact
        for names that are released for certain.

        Args:
            text: the query.
            confidence: of the interval.
            progress: not used.

        Raises:
            ValueError: the text is no query on this attribute, or names what was not released.
        """
        del progress
        (weights,) = parse(Schema((self.attribute,)), text)
        variance = self._variance(weights)
        half, value = half_width(variance, confidence, self.release.tail), float(weights @ self.counts)
        note = None if np.all(weights == weights[-1]) else self.selected
        return Result.of_count(text, value, variance, half, confidence, note)

    def _variance(self, weights: Array) -> float:
        own, total = self.variances
        return float(weights[-1] ** 2 * total + ((weights[:-1] - weights[-1]) ** 2).sum() * own)

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {FILE: self.release.schema.names}

    @property
    def announced(self) -> tuple[str, ...]:
        """From which count on names are released, and what that does to counts near it."""
        return (self.selected,)

    @property
    def selected(self) -> str:
        """What the selection does to counts near the threshold, in a sentence."""
        person = self.release.claim.unit.column
        once = f" Each {person} counts once for a name." if person else ""
        return (
            f"Only names with a noisy count of at least {self.mechanism.threshold:,} are released: counts near it are "
            f"too high on average, and their intervals hold less often than they say.{once}"
        )

    @property
    def described(self) -> Mapping[str, Any]:
        """How many names were released, and from which noisy count on."""
        return {"names": len(self.names), "threshold": self.mechanism.threshold}

    def published(self) -> Iterator[PublishedTable]:
        """Yield the table: a row for every released name, in the order of their bytes, then one for the rest."""
        own, _ = self.variances
        rest = self._variance(np.append(np.zeros(len(self.names)), 1.0))
        yield PublishedTable(
            name=FILE,
            axes=(self.attribute,),
            count=self.counts,
            variance=np.append(np.full(len(self.names), own), rest),
            adjusted=None,
            tail=self.release.tail,
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
        """Yield nothing: no devices are asked."""
        del cells
        yield from ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Nothing."""
        return ()


def predicted(mechanism: Mechanism, workload: object) -> float | None:
    """Return the variance of the count of a name, in counts squared."""
    del workload
    return mechanism.variance if isinstance(mechanism, NameMechanism) else None


def measured(mechanism: Mechanism, drawn: NoisyNames, schema: object, *, rng: Generator) -> KeptAnswers:
    """Return the noisy total and counts, and the names."""
    del mechanism, schema, rng
    return KeptAnswers(answers=drawn.answers, detail=drawn.names)


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Return the names that stand in a folder's table.

    Raises:
        SchemaMismatch: they are not as many as the noisy counts, no names, or not in the order of their bytes.
    """
    asked = _asked(release)
    found = columns(folder / FILE)[asked.name].to_pylist()
    names, rest = tuple(found[:-1]), tuple(found[-1:])
    fit = all(isinstance(one, str) and 0 < len(one.encode()) <= LONGEST_NAME for one in names)
    if not fit or rest != asked.extra or len(names) != description["names"] or release.kept.size != len(names) + 1:
        raise SchemaMismatch(f"{FILE} does not hold the names of the noisy counts")
    if list(names) != sorted(set(names) - set(rest), key=str.encode):
        raise SchemaMismatch(f"{FILE} does not hold every name once, in order")
    return names


def _asked(release: Release) -> Categorical:
    asked = release.schema.attributes[0]
    if not isinstance(asked, Categorical):
        raise TypeError(f"{asked.name} has no names")
    return asked
