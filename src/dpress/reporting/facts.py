"""What a page takes from a release: the one place of this package that reads it.

Data flow: release -> Facts -> the numbers and names of a page.
"""

import functools
import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.domain import Schema
from dpress.core.basics import claim_words
from dpress.core.basics.claim import Claim
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.read import from_parameters
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import Ranges
from dpress.core.methods.mechanism import RangeStrategy
from dpress.inference.interval import Tail
from dpress.inference.suppression import Display, display_of
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.folder import as_csv
from dpress.query.linear_forms import Linear
from dpress.query.published_tables import PublishedTable
from dpress.query.query_tree import Query
from dpress.query.release import Release
from dpress.query.result import Result
from dpress.reporting.views import RangeVariances, View, view_of

NOUNS = {"central": "rows", "local": "people"}
TEXTS = ("title", "source", "contact", "license", "language")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """A method that was considered.

    Args:
        method: its name.
        predicted_error: for those who took part; infinite without a formula.
        assumes: what the error supposes of the people.
        asks: what a device would be asked about.
    """

    method: str
    predicted_error: float
    assumes: str
    asks: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A release, as its page sees it.

    Args:
        kind: as the specification names it.
        specification: what was asked for, as plain objects.
        budget: the loss that it allows.
        postprocess: the adjustments that it names.
        display: which numbers are hidden, and to what counts are rounded.
        local: whether devices answered.
        schema: the attributes that queries are about.
        private: False if a seeded generator drew the noise.
        claim: the promise of what ran.
        charged: the loss that was charged.
        created: UTC, ISO 8601.
        ledger_head: the hash of the ledger's last entry, or None without a ledger.
        method: its name.
        mechanism: that measured.
        workload: what the predicted error is averaged over.
        candidates: all methods that were compared, the best first, and of equals the chosen one.
        chosen: the one that ran.
        lower_bound: of the mean variance, in counts squared; 0 where none is known.
        tail: the kind of noise.
        approximate: whether intervals may hold less often than they say.
        rejected: how many reports were left out, by reason.
        query: answers a query.
        answered: answers a query that was read, with a confidence.
        linear: gives counts with the exact covariance of their errors.
        published: makes the published tables.
        asked_tables: makes those that were asked for and follow from them.
        with_asked: whether the folder has these, too.
        csv_files: the copies of its files as CSV.
        range_variances: of the answers to ranges of one attribute's cells, in counts squared.
    """

    kind: str
    specification: Mapping[str, Any]
    budget: Loss
    postprocess: tuple[str, ...]
    display: Display
    local: bool
    schema: Schema
    private: bool
    claim: Claim
    charged: Loss
    created: str
    ledger_head: str | None
    method: str
    mechanism: Any
    workload: Any
    candidates: tuple[Alternative, ...]
    chosen: Alternative
    lower_bound: float
    tail: Tail
    approximate: bool
    rejected: Mapping[str, int]
    query: Callable[[str], Result]
    answered: Callable[[Query, float], Result]
    linear: Callable[[Sequence[Query]], Linear]
    published: Callable[[], Iterable[PublishedTable]]
    asked_tables: Callable[[], Iterable[PublishedTable]]
    with_asked: bool
    csv_files: tuple[str, ...]
    range_variances: RangeVariances

    @property
    def model(self) -> str:
        """Who is trusted: "central" or "local"."""
        return "local" if self.local else "central"

    @property
    def noun(self) -> str:
        """What is counted."""
        return NOUNS[self.model]

    @property
    def counted(self) -> str:
        """What stands behind the number of all."""
        return f"{self.noun} reported" if self.local else self.noun

    @property
    def views(self) -> list[View]:
        """A view of every published table."""
        return [view_of(table, self.noun, self.display) for table in self.published()]

    @property
    def predicted_error(self) -> float:
        """The mean variance that was predicted, in counts squared."""
        return self.chosen.predicted_error

    @property
    def texts(self) -> dict[str, str]:
        """What the specification says of the release to people; empty where it says nothing."""
        return {name: str(self.specification["release"].get(name, "")) for name in TEXTS}

    @property
    def where(self) -> str:
        """The public condition of which rows are counted; empty for all."""
        return str(self.specification.get("data", {}).get("where", ""))

    @property
    def whom(self) -> str:
        """Whom two tables that belong together protect, a sentence; empty where the rows are of one."""
        return claim_words.of_two_tables(self.specification.get("table", ()), self.claim.unit.columns)

    @property
    def specification_hash(self) -> str:
        """The SHA-256 of the specification in a canonical form, hexadecimal."""
        return hashlib.sha256(msgspec.json.encode(dict(self.specification), order="sorted")).hexdigest()

    @property
    def promised(self) -> Loss | None:
        """The loss that the page may rely on: proven, or only published; None if the release protects nobody."""
        return (self.claim.proven or self.claim.published) if self.private else None


def facts(release: Release) -> Facts:
    """Return what a page takes from a release of any kind."""
    design = release.design
    candidates = _alternatives(release)
    chosen = _chosen(release, candidates)
    return Facts(
        kind=release.kind,
        specification=design.specification,
        budget=from_parameters(design.budget),
        postprocess=tuple(design.release["postprocess"]),
        display=display_of(design.release),
        local=design.local,
        schema=release.schema,
        private=release.private,
        claim=release.claim,
        charged=release.charged,
        created=release.created,
        ledger_head=release.ledger_head,
        method=release.method,
        mechanism=release.mechanism,
        workload=release.workload,
        candidates=tuple(sorted(candidates, key=lambda candidate: _rank(candidate, chosen))),
        chosen=chosen,
        lower_bound=release.lower_bound,
        tail=release.tail,
        approximate=release.answers.approximate,
        rejected=release.rejected,
        query=release.query,
        answered=release.answered,
        linear=release.answers.linear,
        published=release.answers.published,
        asked_tables=release.answers.asked_tables,
        with_asked=release.with_asked,
        csv_files=tuple(map(as_csv, release.files)) if release.csv else (),
        range_variances=functools.partial(_range_variances, release),
    )


def _alternatives(release: Release) -> tuple[Alternative, ...]:
    """Return the methods of the plan, their errors scaled as that of the chosen one is for those who took part."""
    return tuple(
        Alternative(
            method=candidate.method,
            predicted_error=math.inf if candidate.error is None else candidate.error * release.scale,
            assumes=candidate.assumes,
            asks=candidate.asks,
        )
        for candidate in release.design.prediction.candidates
    )


def _chosen(release: Release, candidates: tuple[Alternative, ...]) -> Alternative:
    """Return the method that acted: of those with its name the one with its error."""
    planned = release.design.prediction.error
    pairs = zip(release.design.prediction.candidates, candidates, strict=True)
    acted = release.method, planned
    return next(alternative for candidate, alternative in pairs if (candidate.method, candidate.error) == acted)


def _rank(alternative: Alternative, chosen: Alternative) -> tuple[bool, float, bool]:
    """Return what methods are sorted by: as in a plan, and among equals the chosen one first."""
    return bool(alternative.assumes), alternative.predicted_error, alternative is not chosen


def _range_variances(release: Release, name: str, ranges: Ranges) -> Array:
    mechanism = release.mechanism
    if isinstance(mechanism, MatrixMechanism) and isinstance(mechanism.strategy, RangeStrategy):
        return mechanism.strategy.range_variances(ranges, [noise.variance for noise in mechanism.noises])
    answers: Any = release.answers  # of tables: no other has ranges in its figures
    weights = [np.ones(size) for size in release.schema.shape]
    axis, spread = release.schema.names.index(name), np.empty(ranges.size)
    for place in range(ranges.size):
        weights[axis] = ranges.weights(place)
        spread[place] = answers.query_variance(weights)
    return spread
