"""What becomes of sets of values, for whoever holds the rows, before anybody is asked. Exact: never private.

rows -> sizes of sets, values that are listed -> what the cap leaves.
"""

from dataclasses import dataclass

import msgspec
import numpy as np

from dpress.attributes.policy import REJECT
from dpress.data.count_sets import set_counts
from dpress.kinds.sets.answers import privset_of
from dpress.release.truth.finding import CheckedRows, Checking, Finding, share

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


def findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what becomes of sets.

    Raises:
        OSError, SchemaMismatch: see `set_counts`.
    """
    check = _checked(rows)
    finding = Finding(
        figures=check,
        lines=(_lines(check),),
        refused=(check.attribute,) if check.refused and check.unlisted else (),
        unlisted={check.attribute: check.unlisted / max(check.people, 1)},
    )
    return {"sets": finding}


def _checked(rows: CheckedRows) -> SetsCheck:
    privset, attribute = privset_of(rows.mechanism), rows.design.schema.attributes[0].held
    if attribute is None:
        raise TypeError("the attribute has no sets")
    refused = attribute.other == REJECT
    seen = msgspec.structs.replace(attribute, other=BESIDE, null=None) if refused else attribute
    sets = set_counts(seen, rows.source, progress=rows.progress)
    place = seen.labels.index(seen.other)
    counts, kept = (np.delete(values, place) if refused else values for values in (sets.counts, sets.kept(privset.cap)))
    return SetsCheck(
        attribute=attribute.name,
        people=sets.people,
        empty=int(sets.sizes[0]),
        mean=float(counts.sum() / max(sets.people, 1)),
        cap=privset.cap,
        above=int(sets.sizes[privset.cap + 1 :].sum()),
        kept=float(kept.sum() / counts.sum()) if counts.sum() else 1.0,
        unlisted=int(sets.counts[place]),
        refused=refused,
    )


def _lines(check: SetsCheck) -> list[str]:
    much = f"{check.attribute}: {check.people:,} sets of {check.mean:.2f} values on average; {check.empty:,} are empty"
    cap = f"  cap = {check.cap} is exceeded by {check.above:,} ({share(check.above, check.people)}) and keeps"
    fate = ", which devices refuse" if check.refused else ", counted as one of their own"
    beside = [f"  {check.unlisted:,} have a value that is not listed{fate}"] if check.unlisted else []
    return [much, f"{cap} {check.kept:.1%} of all held values: counts are too low by the rest", *beside]


CHECKING = Checking(findings=findings)
