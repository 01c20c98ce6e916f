"""Methods that could serve a specification, with the error that is predicted of each, and the plan that chose one."""

from dataclasses import dataclass

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.core.maps.workload import Areas, Workload
from dpress.core.methods.mechanism import Mechanism
from dpress.mechanisms.protocol.collection import Collection, as_collection, method_of

UNIT = "counts squared"


def of_root(unit: str) -> str:
    """Return the unit of the root of errors, of which one typical error is.

    >>> of_root("counts squared, of a released name"), of_root("squared error, widths of the bounds")
    ('counts, of a released name', 'widths of the bounds')
    """
    squared, _, rooted = unit.partition(", ")
    return unit.replace(UNIT, "counts", 1) if squared == UNIT else rooted or unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One method that could publish this.

    Args:
        method: its name.
        mechanism: ready to measure, or to ask devices.
        predicted_error: in the plan's unit; infinite without a formula.
    """

    method: str
    mechanism: Mechanism
    predicted_error: float

    @property
    def collection(self) -> Collection | None:
        """What devices would be asked; None where a curator measures."""
        return as_collection(self.mechanism)

    @property
    def assumes(self) -> str:
        """What the predicted error takes for granted about the people; empty for all but a baseline."""
        return str(getattr(method_of(self.mechanism), "assumes", ""))

    @property
    def asks(self) -> str:
        """What a device would be asked about; empty where there are no devices."""
        if (collection := self.collection) is None:
            return ""
        if asks := getattr(collection.estimator, "asks", ""):
            return str(asks)
        if len(collection.types) == 1 and collection.most_asked == len(collection.shape):
            return "all at once"
        return "one attribute" if collection.most_asked == 1 else f"{collection.most_asked} at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a room's planner decides.

    Args:
        workload: the queries the error is averaged over; of records, which have no such error, every attribute.
        schema: the attributes whose cells the chosen method takes; of a map both places, on its grid.
        candidates: smallest predicted error first; those that assume something about the people last.
        chosen: the one that acts.
        lower_bound: no method of this kind has a smaller error; 0 where none is known.
        users: how many people, or rows, it is made for.
        unit: of all errors.
        attributes: what is released, where their cells are finer than the specification's; None for those as they are.
    """

    workload: Workload | Areas
    schema: Schema
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    lower_bound: float
    users: int
    unit: str = UNIT
    attributes: tuple[Attribute, ...] | None = None


def rank(candidate: Candidate) -> tuple[bool, float]:
    """Return what candidates are sorted by: those that assume nothing first, then by error."""
    return bool(candidate.assumes), candidate.predicted_error
