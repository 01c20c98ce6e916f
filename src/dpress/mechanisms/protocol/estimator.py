"""The protocol of estimators: how a collection's tallies become answers, and what most of them answer alike.

tallies of all report types -> Measurement; Decoder -> answers.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from dpress.mechanisms.protocol.rounds import round_of

if TYPE_CHECKING:  # a device estimates nothing
    from dpress.attributes.attribute import Tabular
    from dpress.core.maps.linear import Array
    from dpress.core.maps.measurement import Measurement
    from dpress.core.reports.oracle import Payloads, Tally
    from dpress.core.reports.pieces import PayloadPieces
    from dpress.inference.joint.contrast import Contrast
    from dpress.inference.joint.factors import Joint
    from dpress.mechanisms.protocol.report_type import ReportType

FROM_REPORT_TYPES = ("shape", "types", "weights", "sets", "oracles", "oracle")
"""Names of an estimator's fields that the report types give."""


@runtime_checkable
class Estimator(Protocol):
    """How tallies become answers: a base of every estimator, which states what it knows better than the defaults."""

    __slots__ = ()
    from_tallies: ClassVar[bool] = True
    """Whether `fit` needs the tallies alone, so that who has them need not keep the fit."""

    def measurement(self, tallies: "Sequence[Tally]") -> "Measurement":
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

    def tally(self, report_type: "ReportType", payloads: "Payloads") -> "Tally":
        """Return what the payloads of a report type add up to, and their number last."""
        return report_type.tally(payloads)

    def unanswered(self, tallies: "Sequence[Tally]") -> list[tuple[int, ...]]:
        """Return the attributes of the types that nobody reported about, where it cannot do without any of them."""
        del tallies
        return []

    def check_answered(self, tallies: "Sequence[Tally]") -> None:
        """Refuse tallies without reports about the cells themselves, where it cannot do without.

        Raises:
            ValueError: nobody reported the cells themselves.
        """
        del tallies

    def query_variances(self, tallies: "Sequence[Tally]") -> "Callable[[Sequence[Array]], float] | None":
        """Return what gives the variance of a product query, in counts squared, for weights of any size and sign.

        None where the estimator does not know how the errors of a table's cells depend on one another.
        """
        del tallies
        return None

    def form_covariance(self, tallies: "Sequence[Tally]", axes: tuple[int, ...]) -> "Callable[[Array], Array] | None":
        """Return what gives the covariance of sums of a table's cells; see `core.methods.mechanism.Decoder`.

        None where the estimator does not know how the errors of a table's cells depend on one another.
        """
        del tallies, axes
        return None

    def fit(self, tallies: "Sequence[Tally]", payloads: "PayloadPieces") -> "Joint":
        """Return the joint distribution that is fitted to the tallies, or to the reports if they are needed again.

        Raises:
            TypeError: it fits none.
        """
        del tallies, payloads
        raise TypeError(f"{type(self).__name__} fits no joint distribution")

    def contrasts(self, tallies: "Sequence[Tally]") -> "tuple[Contrast, ...]":
        """Return for every pair of attributes what its table says beyond independence, with the noise of that."""
        del tallies
        return ()

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many report types every round has, each with a user group; empty where everybody is asked at once."""
        return ()

    @property
    def earlier(self) -> Sequence[Any]:
        """What came out of each report type of earlier rounds; each says how many `users` answered."""
        return ()

    @property
    def round(self) -> int:
        """The round that is asked now, from 0."""
        return round_of(self.rounds, len(self.earlier)) if self.rounds else 0

    @property
    def before(self) -> int:
        """How many users answered in earlier rounds."""
        return sum(answered.users for answered in self.earlier)

    def coded(self, attributes: "tuple[Tabular, ...]") -> "tuple[Tabular, ...]":
        """Return the attributes as devices code them in this round."""
        return attributes

    def ended(self) -> Self:
        """Return the estimator of what there is after this round, whatever was to follow."""
        return self

    def following(self, tallies: "Sequence[Tally]") -> Self | None:
        """Return the next round, a function of this one's tallies and of what it knew before; None after the last."""
        del tallies
        return None
