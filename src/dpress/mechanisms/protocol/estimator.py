"""The protocol of estimators: how a collection's tallies become answers.

tallies of all report types -> Measurement; Decoder -> answers.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.reports.oracle import Payloads, Tally
from dpress.core.reports.pieces import PayloadPieces

if TYPE_CHECKING:  # a device estimates nothing
    from dpress.inference.joint.contrast import Contrast
    from dpress.inference.joint.factors import Joint

FROM_REPORT_TYPES = ("shape", "types", "weights", "sets", "oracles", "oracle")
"""Names of an estimator's fields that the report types give."""


@runtime_checkable
class Estimator(Protocol):
    """How tallies become answers."""

    def measurement(self, tallies: Sequence[Tally]) -> Measurement:
        """Return the answers that the tallies give; each ends with its number of reports.

        Raises:
            ValueError: nobody answered a report type that the answers cannot do without.
        """
        ...

    def decoder(self, users: int) -> Any:
        """Return how tables, or the map, are made of a measurement, given how many took part."""
        ...

    def mean_variance(self, users: int) -> float:
        """Return the predicted variance of a cell, averaged over all cells that are published."""
        ...


@runtime_checkable
class JointEstimator(Estimator, Protocol):
    """An estimator that also fits one joint distribution."""

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The axes of every published table."""
        ...

    def fit(self, tallies: Sequence[Tally], payloads: PayloadPieces) -> "Joint":
        """Return the joint distribution that is fitted to the tallies, or to the reports if they are needed again."""
        ...

    def contrasts(self, tallies: Sequence[Tally]) -> "tuple[Contrast, ...]":
        """Return for every pair of attributes what its table says beyond independence, with the noise of that."""
        ...

    @property
    def from_tallies(self) -> bool:
        """Whether the tallies alone are fitted, so that who has them need not keep the fit."""
        ...


@runtime_checkable
class PayloadTally(Protocol):
    """An estimator that counts the payloads of its only report type in a way of its own."""

    def tally(self, payloads: Payloads) -> Tally:
        """Return what the payloads add up to, and their number last."""
        ...


@runtime_checkable
class HasQueryVariances(Protocol):
    """An estimator that knows how the errors of a table's cells depend on one another."""

    def query_variances(self, tallies: Sequence[Tally]) -> Callable[[Sequence[Array]], float]:
        """Return what gives the variance of a product query, in counts squared, for weights of any size and sign."""
        ...


@runtime_checkable
class NeedsEveryType(Protocol):
    """An estimator that cannot do without any of its report types."""

    def unanswered(self, tallies: Sequence[Tally]) -> list[tuple[int, ...]]:
        """Return the attributes of the types that nobody reported about."""
        ...


@runtime_checkable
class NeedsCells(Protocol):
    """An estimator of levels that cannot do without reports about the cells themselves."""

    def check_answered(self, tallies: Sequence[Tally]) -> None:
        """Refuse tallies without any.

        Raises:
            ValueError: nobody reported the cells themselves.
        """
        ...
