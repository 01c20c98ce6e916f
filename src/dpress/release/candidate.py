"""One method that could publish this: ready to measure, with the error that is predicted and what it costs."""

from dataclasses import dataclass

from dpress.core.claim import Loss
from dpress.core.errors import NotSupported
from dpress.mechanisms.joint.independent import Independent
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.spatial.adaptive_grid import AdaptiveGrid
from dpress.mechanisms.spatial.central_map import CentralMap
from dpress.release.microdata_plan import RecordMaker

UNIT = "counts squared"
CentralMapping = CentralMap | AdaptiveGrid
Mechanism = MatrixMechanism | Collection | CentralMap | AdaptiveGrid | RecordMaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One method that could publish this.

    Args:
        method: its name.
        mechanism: ready to measure.
        predicted_error: the mean variance over the workload, exact, in counts squared; of records the squared error
            that noise adds to the numbers of all of them, on the scale of the bounds, infinite without a formula.
    """

    method: str
    mechanism: Mechanism
    predicted_error: float

    @property
    def assumes(self) -> str:
        """What the predicted error takes for granted about the people; empty for all but a baseline."""
        estimator = self.mechanism.estimator if isinstance(self.mechanism, Collection) else None
        return estimator.assumes if isinstance(estimator, Independent) else ""


def charge(chosen: Candidate, *, allow_unproven: bool) -> Loss:
    """Return what running a method costs: what is proven, or what its paper claims where that was allowed.

    Raises:
        NotSupported: the method is unproven and was not allowed, or claims nothing.
    """
    claim = chosen.mechanism.claim
    loss = claim.proven or claim.published
    if loss is None or (claim.proven is None and not allow_unproven):
        why = claim.basis.removeprefix("no proof") if isinstance(chosen.mechanism, RecordMaker) else ""
        raise NotSupported(f"{chosen.method}: the published claim is not proven{why}; allow_unproven runs it anyway")
    return loss
