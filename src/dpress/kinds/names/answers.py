"""Answers of a release of names: the noisy count of every name that was released, and what is left of the noisy total.

kept integers (total, counts) and names -> counts without the noise's mean, the rest -> a table, queries.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.maps.linear import Array
from dpress.core.methods.mechanism import Mechanism, NameMechanism
from dpress.core.methods.name_counts import LONGEST_NAME, NoisyNames
from dpress.query.answering import Answering
from dpress.query.answers import KeptAnswers
from dpress.query.folder import columns
from dpress.query.found_values import FoundValues, searched
from dpress.query.one_table import only_file
from dpress.query.release import Release


@dataclass(frozen=True, kw_only=True)
class Answers(FoundValues):
    """Counts of names."""

    @property
    def values(self) -> tuple[str, ...]:
        """The names that were released, in the order of their bytes."""
        names: tuple[str, ...] = self.release.detail
        return names

    @property
    def mechanism(self) -> NameMechanism:
        """What selected them."""
        return cast("NameMechanism", self.release.mechanism)

    @cached_property
    def counts(self) -> Array:
        """The estimated count of every name, then of the rest, shape (names + 1,)."""
        total, *noisy = self.release.kept.tolist()
        of_names = np.asarray(noisy, dtype=np.float64) - self.mechanism.mean
        return np.append(of_names, total - math.fsum(of_names))

    @cached_property
    def variances(self) -> Array:
        """The variance of the count of every name, then of the rest, shape (names + 1,)."""
        of_names = np.full(len(self.values), self.mechanism.variance)
        return np.append(of_names, self.rest_variance)

    def variance_of(self, weights: Array) -> float:
        """Return the variance of a weighted sum of the counts, exact for names that are released for certain.

        The sum is w T + sum (w_i - w) y_i, T the noisy total and y_i the counts, with the weights w_i of the names and
        w of the rest; so its variance is w^2 Var T + sum (w_i - w)^2 Var y.
        """
        total, variance = self.mechanism.total_variance, self.mechanism.variance
        return float(weights[-1] ** 2 * total + ((weights[:-1] - weights[-1]) ** 2).sum() * variance)

    @property
    def announced(self) -> tuple[str, ...]:
        """From which count on names are released, and what that does to counts near it."""
        return (self.selected,)

    @property
    def selected(self) -> str:
        """What the selection does to counts near the threshold and to the rest, in a sentence.

        Of h names to each count around the threshold the released ones sum to h Var y too much, the rest to as little:
        E sum over c of (y - c) [y >= t] is h times the sum of the noise over its own spread.
        """
        unit, rest = self.release.claim.unit, self.attribute.labels[-1]
        once = f" Each {unit.name} counts once for a name." if unit.columns else ""
        return (
            f"Only names with a noisy count of at least {self.mechanism.threshold:,} are released: counts near it are "
            f"too high on average, {rest} is too low by their sum, and these intervals hold less often than they say."
            f"{once}"
        )

    @property
    def described(self) -> Mapping[str, Any]:
        """How many names were released, and from which noisy count on."""
        return {"names": len(self.values), "threshold": self.mechanism.threshold}


def predicted(mechanism: Mechanism, _: object) -> float | None:
    """Return the variance of the count of a name, in counts squared."""
    return cast("NameMechanism", mechanism).variance


def measured(_: object, drawn: NoisyNames, *__: object) -> KeptAnswers:
    """Return the noisy total and counts, and the names."""
    return KeptAnswers(answers=drawn.answers, detail=drawn.names)


def restored(release: Release, description: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """Return the names that stand in a folder's table.

    Raises:
        SchemaMismatch: they are not as many as the noisy counts, no names, or not in the order of their bytes.
    """
    attribute = searched(release)
    file = only_file(release)
    labels = columns(folder / file)[attribute.name].combine_chunks()
    names, rest = labels[:-1], tuple(labels[-1:].to_pylist())
    sizes = pc.binary_length(names) if pa.types.is_string(names.type) and not names.null_count else None
    fit = sizes is not None and _all(pc.greater(sizes, 0)) and _all(pc.less_equal(sizes, LONGEST_NAME))
    if not fit or rest != attribute.extra or len(names) != description["names"] or release.kept.size != len(names) + 1:
        raise SchemaMismatch(f"{file} does not hold the names of the noisy counts")
    if not _all(pc.less(names[:-1], names[1:])) or pc.index(names, labels[-1]).as_py() >= 0:
        raise SchemaMismatch(f"{file} does not hold every name once, in order")
    return tuple(names.to_pylist())


def _all(flags: pa.BooleanArray) -> bool:
    """Return whether all hold; of none, they do."""
    return bool(pc.all(flags, min_count=0).as_py())


ANSWERING = Answering(answers=Answers, predicted=predicted, measured=measured, restored=restored)
