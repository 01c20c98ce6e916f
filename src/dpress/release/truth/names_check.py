"""How many names a release would find, for whoever holds the rows, before the budget is spent. Exact: never private.

rows -> counts of all names; the selection -> the chance of each count -> the expected number of names.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from dpress.attributes.domain import Schema
from dpress.attributes.listed_attribute import Categorical
from dpress.core.basics.claim import Unit
from dpress.core.methods.mechanism import Mechanism, NameMechanism
from dpress.data.add_up import Progress
from dpress.data.count_names import name_counts
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.selection.above_threshold import EVEN, SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class NamesCheck:
    """What a selection would find among the names of an attribute.

    Args:
        attribute: whose values are discovered.
        names: how many there are.
        expected: how many of them are released on average.
        counts: from which a name is released with a chance of 50 %, and of 99 %, whatever else those have who have it.
        weighted: whether names are found by weights, of persons who add less to each the more they have.
        share: of all counts, or weights, that names have which are released, on average.
    """

    attribute: str
    names: int
    expected: float
    counts: tuple[int, int]
    weighted: bool
    share: float


def names_check(
    mechanism: Mechanism, schema: Schema, source: Any, unit: Unit, *, progress: Progress | None = None
) -> NamesCheck | None:
    """Return what a mechanism would find; None where it discovers no names.

    Args:
        mechanism: that was planned.
        schema: of the release.
        source: the rows, as `open_source` takes or returns them.
        unit: whose contribution is bounded.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `name_counts`.
    """
    selection = mechanism.names if isinstance(mechanism, DiscoveredGroups) else mechanism
    if not isinstance(selection, NameMechanism):
        return None
    attribute = next(one for one in schema.attributes if isinstance(one, Categorical) and one.discovered)
    found = name_counts(attribute, source, unit, weights=selection.weights, progress=progress)
    times = Counter(found.counts.tolist())
    chances = {count: float(selection.chance(count)) for count in times}
    half, nearly = (selection.holders_for(chance) for chance in (EVEN, SURE))
    return NamesCheck(
        attribute=attribute.name,
        names=len(found.names),
        expected=sum(chances[count] * number for count, number in times.items()),
        counts=(half, nearly),
        weighted=selection.weights is not None,
        share=sum(chances[count] * count * number for count, number in times.items()) / max(found.total, 1),
    )
