"""Answers of a release of statistics: of every group, of all rows, and of any set of groups.

noisy sums, or reports -> estimates -> a table of a row for every group and statistic; `mean cost where ward = eyes`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.core.basics.near import meant
from dpress.core.maps.linear import Array
from dpress.inference.group_moments import Estimates
from dpress.inference.interval import critical
from dpress.inference.ratio import Pair
from dpress.kinds.statistics.answer_sums import rows_of, sums_of
from dpress.kinds.statistics.group_results import COUNT, NAME, CountedEstimates, GroupResults, GroupTable, Mask
from dpress.query.answers import Progress, ReleaseAnswers
from dpress.query.boxes import products
from dpress.query.contrasts import HIDDEN
from dpress.query.linear_forms import Compared
from dpress.query.published_tables import CONFIDENCE
from dpress.query.query_tree import TOTAL, Condition, Query, named
from dpress.query.release import Release
from dpress.query.released_file import Part
from dpress.query.result import Result
from dpress.query.schema_queries import query_of
from dpress.query.sources import COUNTS, Source, source
from dpress.query.statistics import EMPTY, difference, two_counts

OF_CELLS = "Different cells are counted, each of which holds several values."
OF_NOISE = "The interval holds the noise, not by how much a sample differs from those that it is drawn from."
OF_BOTH = "The interval holds the noise; that with sampling holds also by how much the sample differs, by replicates."
MOST_SHOWN = 12  # statistics that a refusal names
PARAMETERS = {
    **{word: word + ' = ["{}"]' for word in ("mean", "sum", "variance")},
    "quantile": 'median = ["{0}"] or quantiles = {{ {0} = [0.9] }}',
    "share": 'share = ["CONDITION"]',
    "distinct": 'distinct = ["{}"]',
}


@dataclass(frozen=True, kw_only=True)
class GroupAnswers(ReleaseAnswers):
    """Statistics of groups; `curator.answers` and `devices.answers` say what was measured.

    Args:
        release: of statistics.
    """

    release: Release
    undrawn: ClassVar[str] = "statistics of groups, and no joint distribution of all its attributes"

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        raise NotImplementedError

    def estimates(self, mask: Mask | None, confidence: float) -> CountedEstimates | None:
        """Return what follows from sums or reports, of every group or of the set that a mask names; None without."""
        raise NotImplementedError

    def share(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a share; None for what follows from counts.

        Raises:
            ValueError: it was not asked for.
        """
        raise NotImplementedError

    def chosen_estimates(self, mask: Mask | None) -> Mapping[str, Estimates]:  # noqa: ARG002
        """Return the quantiles that were chosen: none, where every one has an interval."""
        return {}

    @property
    def not_additive(self) -> tuple[str, ...]:
        """The statistics that are known of one group, and of all: none, where every group adds up."""
        return ()

    @property
    def bounded(self) -> Mapping[str, str]:
        """A remark on every attribute whose bounds were chosen privately: none, where all are stated."""
        return {}

    @property
    def discovered(self) -> str:
        """How the groups were found whose names nobody listed, in a sentence; empty where all are listed."""
        return ""

    @property
    def axes(self) -> tuple[Tabular, ...]:
        """The attributes of the groups."""
        tabular = self.release.schema.tabular
        return tuple(tabular[axis] for axis in self.by)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return math.prod(axis.size for axis in self.axes)

    def groups(self) -> GroupResults:
        """Return the estimates of every group."""
        return GroupResults(sums=self.estimates(None, CONFIDENCE), chosen=self.chosen_estimates(None))

    def together(self) -> GroupResults:
        """Return the estimates of all groups together."""
        whole: Mask = np.ones(self.size, dtype=bool)
        return GroupResults(sums=self.estimates(whole, CONFIDENCE), chosen=self.chosen_estimates(whole))

    @property
    def quantile_shares(self) -> Mapping[str, tuple[Fraction, ...]]:
        """The quantiles of every attribute that has some."""
        sums = self.groups().sums
        return {} if sums is None else sums.quantile_shares

    def count(self, condition: Condition, *, text: str, confidence: float, progress: Progress | None) -> Result:
        """Count the rows of the groups that a condition names.

        Error: see `inference.group_moments`.

        Raises:
            ValueError: nothing was counted, or the condition is about other attributes than the groups'.
        """
        del progress
        return self.answered((text, "count"), COUNT, condition, confidence)

    def read(self, schema: Schema, text: str) -> Query:
        """Return what a text asks for.

        Raises:
            ValueError: it cannot be read, or is by what makes no groups; the message says which statistics there are.
        """
        try:
            query = query_of(schema, text)
        except ValueError as fault:
            raise ValueError(f"{fault} ({self._offered})") from None
        self._check_groups(query.by)
        return query

    def statistic(self, query: Query, text: str, confidence: float) -> Result | None:
        """Answer a statistic that was measured; None for what follows from counts.

        Raises:
            ValueError: it was not measured, or the condition is about other attributes than the groups'.
        """
        if query.of == "difference" and self.weighted:
            return self._rows_apart(query, text, confidence)
        if query.of in ("count", "ratio", "difference"):
            return None
        if query.of == "quantile":
            return self.quantile(query, text, confidence)
        if query.of == "share":
            return self.share(query, text, confidence)
        word = query.of.split()[0] if query.of == "total per person" else query.of
        bare = replace(query, where=None, by=()).text
        name = bare.replace(named(query.attribute), query.attribute) if query.attribute else bare
        return self.answered((text, word), name, query.where, confidence)

    def quantile(self, query: Query, text: str, confidence: float) -> Result:
        """Answer a quantile; ValueError as of `statistic`."""
        if query.attribute not in self.quantile_shares:
            raise ValueError(self._unknown(f"quantile of {query.attribute}"))
        return self.answered((text, query.of), query.attribute, query.where, confidence, level_of(query))

    def compared(self, first: Condition, second: Condition, progress: Progress | None = None) -> Compared:
        """Return the counts of two sets of groups, whose errors are those of the groups that both have."""
        del progress
        notes = (self.of_weights(sampled=False),) if self.weighted else ()
        return replace(self._compared((first, second), self.sizes()), notes=notes)

    def _compared(self, conditions: tuple[Condition, Condition], sizes: tuple[Array, Array]) -> Compared:
        left, right = (self.mask(each).astype(float) for each in conditions)
        count, variance = sizes
        pair = Pair(
            first=float(left @ count),
            second=float(right @ count),
            variances=(float(left @ variance), float(right @ variance)),
            covariance=float((left * right) @ variance),
        )
        return Compared(pair=pair, critical=lambda confidence: critical(confidence, self.release.tail))

    def _rows_apart(self, query: Query, text: str, confidence: float) -> Result:
        """Return the difference of two counts of weighted rows, which are of rows, as each count is."""
        of_rows = self._compared(two_counts(query), self.row_counts())
        value, error, interval, _ = difference(of_rows, confidence)
        return Result(
            query=text,
            value=value,
            standard_error=error,
            interval=interval,
            confidence=confidence,
            note=self._remark(COUNT, sampled=False),
            of=query.of,
        )

    def sizes(self) -> tuple[Array, Array]:
        """Return what shares and ratios of groups are made of: their counts, and the variances of these.

        Raises:
            ValueError: nothing was counted.
        """
        return self.row_counts()

    def row_counts(self) -> tuple[Array, Array]:
        """Return the rows of every group, and the variances of their counts.

        Raises:
            ValueError: nothing was counted.
        """
        sums = self.groups().sums
        if sums is None or COUNT not in sums.names:
            raise ValueError(self._unknown(COUNT))
        return sums.counts

    def sources(self, query: Query) -> tuple[Source, ...]:
        """Return the table of the groups, with the groups of a query, and which of their sums it is made of."""
        masks = [self.mask(groups) for groups in self.groups_of(query)]
        mask: Mask = np.logical_xor(*masks) if query.of == "difference" else np.any(masks, axis=0)
        names = tuple(axis.name for axis in self.axes)
        whole = Source(file=NAME, attributes=names, parts=int(mask.sum()), unit="groups", sums=sums_of(query))
        sums = self.groups().sums
        if query.of not in COUNTS or sums is None:
            return (whole,)
        of_counts = source(NAME, names, np.broadcast_to(sums.counts[1], mask.shape)[mask], query, "groups")
        return (replace(of_counts, sums=whole.sums),)

    def groups_of(self, query: Query) -> Iterable[Condition | None]:
        """Return the conditions that name the groups of an answer."""
        return rows_of(query)

    def mask(self, where: Condition | None) -> Mask:
        """Return which groups conditions name, shape (groups,).

        Raises:
            ValueError: they are about other attributes.
        """
        schema, condition = self.release.schema.subset([axis.name for axis in self.axes]), where or TOTAL
        self._check_groups(test.attribute for test in condition.tests)
        mask: Mask = np.any([_in_box(weights) for weights in products(schema, condition)], axis=0)
        return mask

    def _check_groups(self, names: Iterable[str]) -> None:
        """Refuse attributes that make no groups."""
        words = {word for axis in self.axes for word in (axis.name, *axis.tree_levels)}
        for name in names:
            if name not in words:
                raise ValueError(f"{name} makes no groups for `by` and conditions; {self._offered}")

    def answered(
        self,
        query: tuple[str, str],
        name: str,
        where: Condition | None,
        confidence: float,
        share: Fraction | None = None,
    ) -> Result:
        """Answer a statistic by its name; `query` is the query and what it is of.

        Raises:
            ValueError: see `statistic`.
        """
        mask = self.mask(where)
        sums = self.estimates(mask, confidence)
        if sums is None or (share is None and name not in sums.names):
            raise ValueError(self._unknown(name))
        if where and name in self.not_additive and not mask.all() and mask.sum() != 1:
            what = "a value" if query[1] == "distinct" else "a person"
            raise ValueError(f"{name} is known of one group and of all: {what} may be in several; got {where.text!r}")
        statistic = sums.of(name, share)
        value = float(statistic.value[0])
        result = Result(
            query=query[0],
            value=value,
            standard_error=float(statistic.standard_error[0]),
            interval=(float(statistic.low[0]), float(statistic.high[0])),
            confidence=confidence,
            note=EMPTY if math.isnan(value) else self._remark(name, sampled=statistic.sampling is not None),
            of=query[1],
        )
        if statistic.sampling is None or statistic.population is None or math.isnan(value):
            return result
        low, high = statistic.population
        effect = None if statistic.design_effect is None else float(statistic.design_effect[0])
        return replace(
            result,
            sampling=float(statistic.sampling[0]),
            population=(float(low[0]), float(high[0])),
            design_effect=None if effect is None or math.isnan(effect) else effect,
            note=f"{result.note} {HIDDEN}" if not statistic.sampling[0] else result.note,
        )

    @property
    def replicated(self) -> bool:
        """Whether the error of sampling is estimated, by replicate weights."""
        return False

    def of_weights(self, *, sampled: bool) -> str:
        """Return that rows are weighted, and whether an interval holds the error of sampling, too."""
        return f"Weighted by {self.weighted}. {OF_BOTH if sampled else OF_NOISE}"

    def _remark(self, name: str, *, sampled: bool) -> str | None:
        """Return the remark on the bounds of a statistic's attribute, or on the weights of rows."""
        if self.weighted:
            of_rows = f"These are rows; `sum {self.weighted}` has their weights."
            return of_rows if name == COUNT else self.of_weights(sampled=sampled)
        if name.startswith("distinct "):
            numbers = self.release.schema.attribute(name.removeprefix("distinct ")).numbers
            return OF_CELLS if numbers is not None and not numbers.unbinned else None
        notes = self.bounded.items()
        return next((note for measured, note in notes if name == measured or name.endswith(f" {measured}")), None)

    def _unknown(self, name: str) -> str:
        """Return that there is no statistic of a name, those there are, and how a specification asks for it."""
        word, _, of = name.replace(" of ", " ").partition(" ")
        names = [each for each in self.measured if each.split()[0] == word]
        asks = f"; a specification asks for it by {PARAMETERS[word].format(of)}" if word in PARAMETERS else ""
        return f"there is no statistic {name!r}; {self._offered}{meant(name, names) or asks}"

    @property
    def _offered(self) -> str:
        """Which statistics there are, and by which attributes."""
        by = f"by {', '.join(axis.name for axis in self.axes)}" if self.axes else "of all rows together"
        names = self.measured
        more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
        return f"this release has {', '.join(names[:MOST_SHOWN])}{more}, {by}"

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The one table."""
        return {NAME: tuple(axis.name for axis in self.axes)}

    @property
    def announced(self) -> tuple[str, ...]:
        """Which statistics there are, and how their groups were found."""
        notes = [f"{name}: {note}" for name, note in self.bounded.items()]
        chosen = self.groups().chosen
        without = [f"Chosen, without an interval: {', '.join(chosen)}"] if chosen else []
        names = [self.discovered] if self.discovered else []
        holds = OF_BOTH if self.replicated else OF_NOISE
        weights = [f"All but the count is weighted by {self.weighted}. {holds}"] if self.weighted else []
        return (f"Statistics: {', '.join(self.measured)}", *without, *names, *notes, *weights)

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the statistics."""
        return self.groups().names

    @property
    def described(self) -> Mapping[str, Any]:
        """The names of the statistics."""
        return {"statistics": list(self.measured)}

    def published(self) -> Iterator[Any]:
        """Yield no table of counts."""
        yield from ()

    def by_attributes(self) -> Iterator[tuple[tuple[str, ...], Part]]:
        """Yield the tables with the names of their attributes."""
        names = self.tables
        for part in self.parts(progress=None):
            yield names[part.name], part

    def parts(self, *, progress: Progress | None) -> Iterator[Part]:
        """Yield the table of all statistics."""
        del progress
        yield GroupTable(axes=self.axes, groups=self.groups(), together=self.together(), size=self.size)


def level_of(query: Query) -> Fraction:
    """Return the level of a quantile, exactly."""
    return Fraction(query.level).limit_denominator(1 << 20)


def _in_box(weights: list[Any]) -> Mask:
    """Return which groups a query holds for, shape (groups,).

    Args:
        weights: 0 or 1 for every cell of every axis of the groups.
    """
    product = np.ones(1)
    for factor in weights:
        product = np.multiply.outer(product, factor).ravel()
    chosen: Mask = product.astype(bool)
    return chosen
