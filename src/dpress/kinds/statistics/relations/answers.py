"""Answers of a release of relations: coefficients, covariances and correlations of any set of groups.

noisy moments -> estimates -> a table; `cost ~ age where ward = eyes`, an answer for every coefficient.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import cast

from dpress.core.maps.measurement import Measurement
from dpress.inference.cell_models import SINGULAR
from dpress.inference.interval import critical
from dpress.kinds.statistics.group_answers import GroupAnswers
from dpress.kinds.statistics.group_results import Mask
from dpress.kinds.statistics.relations.estimates import RelationEstimates, names_of, relation_estimates
from dpress.mechanisms.linear.cross_moments import CrossMoments
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.query.answering import Answering
from dpress.query.query_tree import Condition, Query
from dpress.query.relation_grammar import MEASURED, Relation, relation
from dpress.query.relation_terms import DRAWN_ROWS
from dpress.query.result import Result

OF_SAMPLE = f"{DRAWN_ROWS}, with residuals of one spread."


@dataclass(frozen=True, kw_only=True)
class RelationAnswers(GroupAnswers):
    """Relations in the groups of a table."""

    @property
    def mechanism(self) -> MatrixMechanism:
        """What measured the moments."""
        return cast("MatrixMechanism", self.release.mechanism)

    @property
    def strategy(self) -> CrossMoments:
        """The moments that were measured."""
        return cast("CrossMoments", self.mechanism.strategy)

    @property
    def by(self) -> tuple[int, ...]:
        """The axes of the groups."""
        return self.strategy.by

    @cached_property
    def drawn(self) -> Measurement:
        """The noisy answers."""
        return self.mechanism.measured(self.release.kept)

    def estimates(self, mask: Mask | None, confidence: float) -> RelationEstimates:
        """Return what follows from the noisy moments."""
        return self._estimates(self.strategy, mask, confidence)

    def _estimates(self, strategy: CrossMoments, mask: Mask | None, confidence: float) -> RelationEstimates:
        measured = self.drawn.answers, self.mechanism.noises[0].variance
        z = critical(confidence, self.release.tail)
        return relation_estimates(strategy, self.release.schema, measured, z=z, mask=mask)

    def share(self, query: Query, text: str, confidence: float) -> Result | None:
        """Refuse a share: no condition was measured.

        Raises:
            ValueError: always.
        """
        del text, confidence
        raise ValueError(self._unknown(query.text))

    def terms(self, query: Query) -> tuple[tuple[tuple[tuple[str, str], ...], Query], ...]:
        """Return every coefficient of a whole regression, named, with the query of it; else the query alone.

        Raises:
            ValueError: the regression was not stated.
        """
        if query.of != "relation":
            return (((), query),)
        stated = relation(self.release.schema.names, query.attribute)
        if stated.of != "regression" or stated.coefficient:
            return (((), query),)
        names = names_of(self._of_relation(stated), self.release.schema, stated)
        labels = (name.removesuffix(f" in {stated.text}").removeprefix("coefficient ") for name in names)
        return tuple(
            ((("coefficient", label),), replace(query, attribute=name))
            for label, name in zip(labels, names, strict=True)
        )

    def answered(
        self,
        query: tuple[str, str],
        name: str,
        where: Condition | None,
        confidence: float,
        share: Fraction | None = None,
    ) -> Result:
        """Answer a statistic by its name: any relation of what was measured, also one that was not stated.

        Raises:
            ValueError: see `GroupAnswers.answered`.
        """
        if query[1] != "relation":
            return super().answered(query, name, where, confidence, share)
        strategy = self._of_relation(relation(self.release.schema.names, name).only(""))
        every = self._estimates(strategy, self.mask(where), confidence)
        if name not in every.names:
            raise ValueError(self._unknown(name))
        statistic = every.of(name)
        value = float(statistic.value[0])
        result = Result(
            query=query[0],
            value=value,
            standard_error=float(statistic.standard_error[0]),
            interval=(float(statistic.low[0]), float(statistic.high[0])),
            confidence=confidence,
            note=SINGULAR if math.isnan(value) else None,
            of=query[1],
        )
        if statistic.sampling is None or statistic.population is None or math.isnan(value):
            return result
        low, high = statistic.population
        both = float(low[0]), float(high[0])
        return replace(result, note=OF_SAMPLE, sampling=float(statistic.sampling[0]), population=both)

    def _of_relation(self, stated: Relation) -> CrossMoments:
        """Return what was measured as if a relation had been stated.

        Raises:
            ValueError: it is of other attributes, or has a product of two numbers.
        """
        if stated.of not in MEASURED:
            raise ValueError(f"{stated.text!r} follows from no moments; a histogram of its attributes answers it")
        schema, measured = self.release.schema, {*self.strategy.axes, *self.strategy.within}
        outcomes = schema.axes(stated.names)
        if not {*schema.axes(stated.attributes)} <= measured or not {*outcomes} <= {*self.strategy.axes}:
            raise ValueError(self._unknown(stated.text))
        strategy = replace(self.strategy, relations=(stated.text,))
        names_of(strategy, schema, stated)
        return strategy

    @property
    def announced(self) -> Sequence[str]:  # type: ignore[override]
        """Which statistics there are, and what their intervals hold."""
        return (*super().announced, OF_SAMPLE)


ANSWERING = Answering(answers=RelationAnswers)
