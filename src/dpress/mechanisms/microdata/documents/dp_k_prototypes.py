"""`dp_k_prototypes`: the document's release, k-prototypes and then noise for every record around its prototype.

rows -> k-prototypes, several times, the best kept -> every row's cluster -> means with noise, categories that occur
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, get_args

import numpy as np
from msgspec import Meta

from dpress.attributes.mixed import Column, example
from dpress.core.basics import check
from dpress.core.basics.claim import ROW, Claim, Unit
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.parameters import Parameters
from dpress.core.basics.rng import Generator
from dpress.core.methods.mechanism import Card, Synthesizer, SyntheticRecords
from dpress.core.methods.people import Codes, People
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.documents import group_records as grouped_noise
from dpress.mechanisms.microdata.documents.influence import Weights, weighted
from dpress.mechanisms.microdata.prototypes import Beginning, Clustering, Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class DpKPrototypes(Synthesizer):
    """k-prototypes clusters, released record by record. A baseline: at epsilon = 1 it adds next to no noise.

    Promise: published epsilon, every value of every record with the whole of it; not proven (four reasons are in
        `grouped_noise.BASIS`, a test for each). Bounds, and so the range that the noise is scaled to, are the
        specification's, where the document takes them from the records. Needs the whole table at once, for its rows
        stay in order.
    Error: of a number in a cluster of c records its distance from the mean, and noise of variance
        2 (range / (c epsilon))^2.
    Paper: Qu, Cai, Fan and Xia; see grouped_noise.records for the formulas.

    Args:
        columns: of the records; their weights are those of the dissimilarity.
        loss: epsilon.
        unit: one row, under either relation.
        clusters: k.
        restarts: m, the number of random initialisations.
        starts: how they are drawn (`prototypes.start`): "random" is the document's, "far apart" needs fewer restarts.
        weights: "influence" clusters twice, the second time with weights that the first run gives to the categories
            (`influence.weighted`); of the raw records, as everything here. "given" takes those of the columns.
    """

    columns: tuple[Column, ...]
    loss: PureDP
    unit: Unit = ROW
    clusters: int = 20
    restarts: int = 4
    starts: Beginning = "far apart"
    weights: Weights = "given"
    added_later: ClassVar[tuple[str, ...]] = ("starts", "weights")
    constants: ClassVar[tuple[str, ...]] = ("weights",)

    def __post_init__(self) -> None:
        check.count("clusters", self.clusters)
        check.count("restarts", self.restarts)
        for name, choices in (("starts", Beginning), ("weights", Weights)):
            if (value := getattr(self, name)) not in get_args(choices):
                raise ValueError(f"{name} must be one of {', '.join(get_args(choices))}, got {name}={value!r}")
        grouped_noise.check(self.loss, self.unit)

    @property
    def claim(self) -> Claim:
        """The published promise, without a proof."""
        return grouped_noise.claim(self.loss, self.unit)

    def release(self, people: People, *, rng: Generator) -> SyntheticRecords:
        """Return one record for every row, in the order of the rows.

        Raises:
            ValueError: there are fewer rows than clusters.
        """
        codes = people.table()
        groups = self.groups(people, codes, rng=rng)
        made = grouped_noise.records(self.columns, codes, groups, epsilon=self.loss.epsilon, rng=rng)
        return SyntheticRecords(codes=made, measurement=None, aligned=True)

    def groups(self, people: People, codes: Codes, *, rng: Generator) -> Labels:
        """Return the cluster of every row, none of them empty, shape (rows,): private to nobody.

        Args:
            people: the rows, by sums.
            codes: of the same rows.
            rng: draws the records to start from.
        """
        fitted = self._fitted(people, self.columns, rng)
        if self.weights == "influence":
            fitted = self._fitted(people, weighted(self.columns, fitted.counts), rng)
        return np.unique(fitted.clusters.labels(codes), return_inverse=True)[1].astype(np.int32)

    def _fitted(self, people: People, columns: tuple[Column, ...], rng: Generator) -> Clustering:
        return prototypes.fit(people, columns, self.clusters, restarts=self.restarts, rng=rng, starts=self.starts)


def dp_k_prototypes(
    columns: tuple[Column, ...],
    loss: PureDP,
    unit: Unit,
    *,
    clusters: int = 20,
    restarts: int = 4,
    starts: Beginning = "far apart",
    weights: Weights = "given",
) -> DpKPrototypes:
    """Return the mechanism over these columns; see there for what is refused."""
    return DpKPrototypes(
        columns=columns,
        loss=loss,
        unit=unit,
        clusters=clusters,
        restarts=restarts,
        starts=starts,
        weights=weights,
    )


class Settings(Parameters, frozen=True):
    """The clusters."""

    clusters: Annotated[int, Meta(ge=1, description="k; 20 unless stated")] | None = None
    restarts: (
        Annotated[int, Meta(ge=1, description="random beginnings, of which the best is kept; 4 unless stated")] | None
    ) = None
    starts: (
        Annotated[
            Beginning,
            Meta(
                description='how the records of a beginning are drawn: each as likely as any other ("random", the '
                'document\'s), or one after the other by their cost so far; "far apart" unless stated'
            ),
        ]
        | None
    ) = None


CARD = Card(
    name="dp_k_prototypes",
    family="microdata",
    model="central",
    paper="microdata: Method as published (Qu, Cai, Fan, Xia)",
    summary="Clusters the raw records, then noise a record around its cluster; not proven, for comparison only.",
    method=DpKPrototypes,
    example=lambda loss, unit: DpKPrototypes(columns=example(), loss=loss, unit=unit, clusters=2),
    synthesizer=dp_k_prototypes,
    parameters=Settings,
)
