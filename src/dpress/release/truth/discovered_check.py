"""How many names a release would find, for whoever holds the rows, before the budget is spent. Exact: never private.

rows -> counts of all names; the selection -> the chance of each count -> the expected number of names.
"""

from collections import Counter
from dataclasses import dataclass

from dpress.core.methods.mechanism import NameMechanism
from dpress.data.count_names import name_counts
from dpress.mechanisms.discovery.discovered_groups import DiscoveredGroups
from dpress.mechanisms.selection.above_threshold import EVEN, LIKELY
from dpress.release.truth.finding import CheckedRows, Finding


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


def names_findings(rows: CheckedRows) -> dict[str, Finding]:
    """Return what a selection would find of names that are discovered, by the name of the finding; {} of listed ones.

    Raises:
        OSError, SchemaMismatch: see `name_counts`.
    """
    if not discovers(rows):
        return {}
    check = names_check(rows)
    return {} if check is None else {"names": Finding(figures=check, lines=(_lines(check),))}


def discovers(rows: CheckedRows) -> bool:
    """Return whether values are found that nobody listed."""
    return any(attribute.discovered for attribute in rows.spec.schema.attributes)


def names_check(rows: CheckedRows) -> NamesCheck | None:
    """Return what a mechanism would find; None where it discovers no names."""
    mechanism, schema, unit = rows.mechanism, rows.spec.schema, rows.spec.privacy.protected
    selection = mechanism.names if isinstance(mechanism, DiscoveredGroups) else mechanism
    if not isinstance(selection, NameMechanism):
        return None
    attribute = next(attribute for attribute in schema.attributes if attribute.discovered)
    names = name_counts(attribute, rows.source, unit, weights=selection.weights, progress=rows.progress)
    times = Counter(names.counts.tolist())
    chances = {count: float(selection.chance(count)) for count in times}
    half, nearly = (selection.holders_for(chance) for chance in (EVEN, LIKELY))
    return NamesCheck(
        attribute=attribute.name,
        names=len(names.names),
        expected=sum(chances[count] * number for count, number in times.items()),
        counts=(half, nearly),
        weighted=selection.weights is not None,
        share=sum(chances[count] * count * number for count, number in times.items()) / max(names.total, 1),
    )


def _lines(check: NamesCheck) -> list[str]:
    half, nearly = check.counts
    names = f"{check.attribute}: {check.names:,} different names; about {check.expected:,.1f} would be released, which"
    counts = f"  a count of {half:,} is released with a chance of 50 %, one of {nearly:,} with 99 %"
    few = "; smaller ones, too, of persons with few names" if check.weighted else ""
    return [f"{names} have {check.share:.1%} of all {'weights' if check.weighted else 'counts'}", counts + few]
