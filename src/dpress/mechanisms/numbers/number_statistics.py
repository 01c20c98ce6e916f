"""Statistics of numbers from devices: which are published, from report types that are each about one number.

tallies of the reports -> as what they are; sums and distributions are made of them (`inference.numbers`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpress.core.maps.linear import Identity
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Tally
from dpress.inference.separate_tables import SeparateTables
from dpress.mechanisms.numbers.one_bit import OneBit
from dpress.mechanisms.numbers.square_wave import SquareWave
from dpress.mechanisms.protocol.estimator import Estimator
from dpress.mechanisms.protocol.report_type import ReportType


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberStatistics(Estimator):
    """Means, variances and quantiles of numbers, by group; of those on a circle the circular moments.

    Args:
        shape: the number of cells of every attribute.
        types: one for every number, about the attributes of the groups and then the number.
        degrees: of every number's moments: 0 without, 1 for the mean, 2 with the variance.
        quantiles: of every number.
    """

    shape: tuple[int, ...]
    types: tuple[ReportType, ...]
    degrees: tuple[int, ...]
    quantiles: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        if not len(self.types) == len(self.degrees) == len(self.quantiles):
            raise ValueError("degrees and quantiles: expected one entry for every report type")
        if any(len(report_type.parts) != 1 for report_type in self.types):
            raise ValueError("types: expected one part each")
        if len({report_type.axes[:-1] for report_type in self.types}) != 1:
            raise ValueError("types: expected the same groups")
        for oracle, degree, quantiles in zip(self.oracles, self.degrees, self.quantiles, strict=True):
            _check(oracle, degree, quantiles)

    @property
    def oracles(self) -> tuple[Any, ...]:
        """What devices send of every number: `SquareWave`, `Piecewise`, `CircularWave` or `OneBit`."""
        return tuple(report_type.oracles[0] for report_type in self.types)

    @property
    def by(self) -> tuple[int, ...]:
        """The attributes of the groups."""
        return self.types[0].axes[:-1]

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the numbers of reports of all types, one after the other, with their variance."""
        measurements = [report_type.measured(tally)[0] for report_type, tally in zip(self.types, tallies, strict=True)]
        answers = np.concatenate([measurement.answers for measurement in measurements])
        variances = [np.broadcast_to(measurement.variance, measurement.answers.shape) for measurement in measurements]
        return Measurement(map=Identity(answers.size), answers=answers, variance=np.concatenate(variances))

    def decoder(self, users: int) -> SeparateTables:
        """Return which attributes every report type is about."""
        return SeparateTables(self.shape, tuple(report_type.axes for report_type in self.types), users)

    def mean_variance(self, users: int) -> float:
        """Return the mean variance of an output's reports."""
        return sum(report_type.oracles[0].variance(users) for report_type in self.types) / len(self.types)


def _check(oracle: object, degree: int, quantiles: Sequence[Fraction]) -> None:
    """Refuse statistics that the reports of a number do not tell."""
    if not isinstance(oracle, SquareWave | OneBit):
        raise ValueError("types: expected reports of numbers")
    if oracle.circular:
        if degree or quantiles:
            raise ValueError("degrees: expected 0 and no quantiles of a number on a circle")
        return
    if not 0 <= degree <= 2 or not (degree or quantiles):
        raise ValueError("degrees: expected 1 or 2, or 0 with quantiles")
    if (degree > 1 or quantiles) and not oracle.tells_shape:
        raise ValueError("one bit tells a mean alone, no variance and no quantiles")
    if not all(0 < share < 1 for share in quantiles):
        raise ValueError("quantiles: expected numbers strictly between 0 and 1")
