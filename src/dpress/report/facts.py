"""What a page takes from a release: the one place of this package that reads it.

Data flow: release -> Facts -> the numbers and names of a page.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.core.claim import Claim, Loss
from dpress.core.domain import Schema
from dpress.core.linear import Array
from dpress.core.mechanism import RangeStrategy, Weights
from dpress.core.ranges import Ranges
from dpress.data.spec import Spec
from dpress.inference.interval import Tail
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.release.artifact import Release, Result
from dpress.release.candidate import Candidate
from dpress.release.tables import Published
from dpress.report.views import RangeVariances, View, view_of

NOUNS = {"central": "rows", "local": "people"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A release, as its page sees it.

    Args:
        spec: what was asked for.
        schema: the attributes that queries are about.
        private: False if a seeded generator drew the noise.
        claim: the promise of what ran.
        charged: the loss that was charged.
        created: UTC, ISO 8601.
        ledger_head: the hash of the ledger's last entry, or None without a ledger.
        method: its name.
        mechanism: that measured.
        workload: what the predicted error is averaged over.
        candidates: all methods that were compared.
        chosen: the one that ran.
        lower_bound: of the mean variance, in counts squared; 0 where none is known.
        tail: the kind of noise.
        rejected: how many reports were left out, by reason.
        query: answers a query.
        published: makes the published tables.
        query_variance: of the answer to a query given by its weights on every axis, in counts squared.
        range_variances: of the answers to ranges of one attribute's cells, in counts squared.
    """

    spec: Spec
    schema: Schema
    private: bool
    claim: Claim
    charged: Loss
    created: str
    ledger_head: str | None
    method: str
    mechanism: Any
    workload: Any
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    lower_bound: float
    tail: Tail
    rejected: Mapping[str, int]
    query: Callable[[str], Result]
    published: Callable[[], Iterable[Published]]
    query_variance: Callable[[Weights], float]
    range_variances: RangeVariances

    @property
    def model(self) -> str:
        """Who is trusted: "central" or "local"."""
        return self.spec.privacy.model

    @property
    def noun(self) -> str:
        """What is counted."""
        return NOUNS[self.model]

    @property
    def views(self) -> list[View]:
        """A view of every published table."""
        return [view_of(one, self.noun) for one in self.published()]

    @property
    def predicted_error(self) -> float:
        """The mean variance that was predicted, in counts squared."""
        return self.chosen.predicted_error

    @property
    def promised(self) -> Loss | None:
        """The loss that the page may rely on: proven, or only published; None if the release protects nobody."""
        return (self.claim.proven or self.claim.published) if self.private else None


def facts(release: Release) -> Facts:
    """Return what a page takes from a release of any kind."""
    planned = release.planned
    return Facts(
        spec=release.spec,
        schema=release.schema,
        private=release.private,
        claim=release.claim,
        charged=release.charged,
        created=release.created,
        ledger_head=release.ledger_head,
        method=planned.chosen.method,
        mechanism=planned.chosen.mechanism,
        workload=planned.workload,
        candidates=planned.candidates,
        chosen=planned.chosen,
        lower_bound=planned.lower_bound,
        tail=release.tail,
        rejected=release.rejected,
        query=release.query,
        published=release.published,
        query_variance=lambda weights: release.decoder.query_variance(release.measurement.variance, weights),
        range_variances=functools.partial(_range_variances, release),
    )


def _range_variances(release: Release, name: str, ranges: Ranges) -> Array:
    mechanism = release.planned.chosen.mechanism
    if isinstance(mechanism, MatrixMechanism) and isinstance(mechanism.strategy, RangeStrategy):
        return mechanism.strategy.range_variances(ranges, [noise.variance for noise in mechanism.noises])
    variance, decoder = release.measurement.variance, release.decoder
    weights = [np.ones(size) for size in release.schema.shape]
    axis, spread = release.schema.names.index(name), np.empty(ranges.size)
    for place in range(ranges.size):
        weights[axis] = ranges.weights(place)
        spread[place] = decoder.query_variance(variance, weights)
    return spread
