"""One table for every attribute, from report types that cover every attribute once.

tallies -> counts of every attribute, each from the users who were asked about it -> Measurement.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Tally
from dpress.inference.separate_tables import SeparateTables, stacked
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import ReportType, per_user, rest
from dpress.mechanisms.protocol.sum_form import SumForm, inflation, sum_form


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWay(Estimator):
    """The one-way tables.

    Error: the oracle's variance, and that of drawing who is asked; see `ReportType.estimates`.
    Paper: local.

    Args:
        shape: the number of cells of every attribute.
        types: that cover every attribute once, one oracle for each.
    """

    shape: tuple[int, ...]
    types: tuple[ReportType, ...]

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the estimated tables of all attributes.

        Raises:
            ValueError: a report type has no answer.
        """
        if empty := self._unanswered(tallies):
            raise ValueError(f"no report is about attributes {list(empty)}; each needs at least one")
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_axis: dict[int, tuple[Array, Array]] = {}
        for report_type, tally in zip(self.types, tallies, strict=True):
            by_axis |= dict(zip(report_type.axes, report_type.estimates(tally, everybody), strict=True))
        counts, variances = zip(*(by_axis[axis] for axis in range(len(self.shape))), strict=True)
        return stacked(self.shape, self.tables, counts, variances)

    def decoder(self, users: int) -> SeparateTables:
        """Return how queries about single attributes are answered."""
        by_axis = {part.axes[0]: part.oracle for report_type in self.types for part in report_type.parts}
        inflated = tuple(inflation(by_axis[axis]) for axis in range(len(self.shape)))  # type: ignore[arg-type]  # oracles are frozen
        return SeparateTables(self.shape, self.tables, users, inflated)

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a weighted sum of one attribute's cells, in counts squared.

        Formula: `sum_form.sum_form`; 0 for everybody's count.
        """
        forms = self.sum_forms(tallies)

        def variance(weights: Sequence[Array]) -> float:
            axes = [axis for axis, values in enumerate(weights) if not np.all(values == 1)]
            return math.fsum(forms[axis].variance(weights[axis]) for axis in axes)

        return variance

    def sum_forms(self, tallies: Sequence[Tally]) -> list[SumForm]:
        """Return for every attribute what gives the variance of a weighted sum of its cells."""
        everybody = sum(int(tally[-1]) for tally in tallies)
        by_axis = dict[int, SumForm]()
        for report_type, tally in zip(self.types, tallies, strict=True):
            users = int(tally[-1])
            measured_parts = zip(report_type.axes, report_type.oracles, report_type.measured(tally), strict=True)
            for axis, oracle, measured in measured_parts:
                by_axis[axis] = sum_form(oracle, measured, users, everybody)
        return [by_axis[axis] for axis in range(len(self.shape))]

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """One for every attribute."""
        return tuple((axis,) for axis in range(len(self.shape)))

    @property
    def approximate(self) -> bool:
        """Whether an oracle cannot tell all values apart, so that errors know nothing of what was selected."""
        oracles = (oracle for report_type in self.types for oracle in report_type.oracles)
        return not all(getattr(oracle, "identified", True) for oracle in oracles)

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells, were all values equally frequent."""
        each = users / len(self.types)
        parts = (part for report_type in self.types for part in report_type.parts)
        alike = Counter((part.oracle, self.shape[part.axes[0]]) for part in parts)
        total = 0.0
        for (oracle, size), number in alike.items():
            share = 1 / size
            drawing = users**2 * share * (1 - share) * rest(users, each) / each
            total += number * size * (per_user(oracle, share) * each * (users / each) ** 2 + drawing)
        return total / sum(self.shape)

    def _unanswered(self, tallies: Sequence[Tally]) -> tuple[int, ...]:
        """Return the attributes that nobody reported about."""
        pairs = zip(self.types, tallies, strict=True)
        return tuple(sorted({axis for report_type, tally in pairs if not tally[-1] for axis in report_type.axes}))
