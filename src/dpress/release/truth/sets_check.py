"""What becomes of sets of values, for whoever holds the rows, before anybody is asked. Exact: never private.

rows -> sizes of sets, values that are listed -> what the cap leaves.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from dpress.attributes.policy import REJECT
from dpress.attributes.set_members import SetMembers
from dpress.core.methods.mechanism import Mechanism
from dpress.data.add_up import Progress
from dpress.data.count_sets import set_counts
from dpress.mechanisms.protocol.collection import method_of
from dpress.mechanisms.sets.privset import Privset

BESIDE = "values that are not listed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetsCheck:
    """What becomes of the sets of an attribute.

    Args:
        attribute: of the sets.
        people: how many there are.
        empty: how many hold no value.
        mean: how many values one holds on average.
        cap: the most that count.
        above: how many people hold more.
        kept: the share of all held values that count.
        unlisted: how many people hold a value that is not listed.
        refused: whether such people would be refused.
    """

    attribute: str
    people: int
    empty: int
    mean: float
    cap: int
    above: int
    kept: float
    unlisted: int
    refused: bool


def sets_check(
    mechanism: Mechanism, attribute: SetMembers, source: Any, *, progress: Progress | None = None
) -> SetsCheck:
    """Return what becomes of sets.

    Args:
        mechanism: that was planned.
        attribute: of the sets, as devices code them.
        source: the rows, as `open_source` takes or returns them.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `set_counts`.
    """
    own = method_of(mechanism)
    if not isinstance(own, Privset):
        raise TypeError("this counts no sets")
    refused = attribute.other == REJECT
    seen = msgspec.structs.replace(attribute, other=BESIDE, null=None) if refused else attribute
    found = set_counts(seen, source, progress=progress)
    place = seen.labels.index(seen.other)
    counts, kept = (np.delete(one, place) if refused else one for one in (found.counts, found.kept(own.cap)))
    return SetsCheck(
        attribute=attribute.name,
        people=found.people,
        empty=int(found.sizes[0]),
        mean=float(counts.sum() / max(found.people, 1)),
        cap=own.cap,
        above=int(found.sizes[own.cap + 1 :].sum()),
        kept=float(kept.sum() / counts.sum()) if counts.sum() else 1.0,
        unlisted=int(found.counts[place]),
        refused=refused,
    )
