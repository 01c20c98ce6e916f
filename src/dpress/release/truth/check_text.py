"""What a check of the rows says to whoever holds them: exact, so never private."""

from dpress.data.persons.contributions import Contributions
from dpress.release.truth.data_check import AttributeCheck, DataCheck
from dpress.release.truth.finding import share


def lines(found: DataCheck) -> list[str]:
    """Return the check in words: for the curator's eyes."""
    out = [f"{found.rows:,} rows; {found.kept:,} would be counted"]
    for one in found.attributes:
        out += ["", *_attribute(one)]
    if (persons := found.persons) is not None:
        out += ["", f"{_persons(persons)}, at most {persons.largest:,}"]
        for cap, kept in persons.kept.items():
            percent, width = share(kept, persons.rows), len(f"{persons.rows:,}")
            out.append(f"  rows_per_unit = {cap:<4} keeps {kept:>{width},} rows ({percent:>6}) at {_noise(cap)}")
            if cap >= persons.largest:
                break
    for finding in found.findings.values():
        for paragraph in finding.lines:
            out += ["", *paragraph]
    return [*out, "", *_verdict(found)]


def _persons(found: Contributions) -> str:
    many = "1 person" if found.persons == 1 else f"{found.persons:,} persons"
    return f"{many} with {found.rows / max(found.persons, 1):,.1f} rows each"


def _few_persons(found: DataCheck) -> list[str]:
    """Return why what names persons probably names something else."""
    if found.persons is None or not found.few_persons:
        return []
    remedy = (
        'name the column that tells people apart, or those that do together, as unit = ["household", "number"] does'
    )
    many = f"{found.unit}: {_persons(found.persons)}: it probably names no person, but a place or a group"
    return [f"{many}, of which only `rows_per_unit` rows would count; {remedy}"]


def _attribute(one: AttributeCheck) -> list[str]:
    outside, null = one.policies["outside"], one.policies["null"]
    rows = [
        (one.matched, "in their cells", ""),
        (one.other, "not listed", _fate(outside)),
        (one.low, "below the bounds", _fate(outside)),
        (one.high, "above the bounds", _fate(outside)),
        (one.missing, "missing", _fate(null)),
        (one.unread, "not of the attribute's type", _fate(null)),
    ]
    shown = [f"  {number:>12,}  {words}{fate} ({share(number, one.rows)})" for number, words, fate in rows if number]
    texts = [f"    {text!r}: {number:,}" for text, number in one.texts]
    remedy = [f"  {one.remedy}"] if one.remedy else []
    return [one.name, *shown, *(["  most frequent without a cell:", *texts] if texts else []), *remedy]


def _fate(policy: str) -> str:
    fates = {
        "reject": ", for which the table is refused",
        "drop": ", whose rows are left out",
        "clamp": ", counted at the bound",
    }
    return fates.get(policy, f', counted as "{policy}"')


def _noise(cap: int) -> str:
    return "the least noise" if cap == 1 else f"{cap} times that noise"


def _verdict(found: DataCheck) -> list[str]:
    """Return what looks like a mistake; that nothing does, otherwise."""
    out = [f"{name}: more than {found.most:.0%} of the values have no cell of their own" for name in found.suspicious]
    out += [f"{name}: `publish` would refuse the table" for name in found.refused]
    out += [
        f"{name}: most positions would lie in the box if its two columns were exchanged" for name in found.exchanged
    ]
    out += found.faults
    out += _few_persons(found)
    return out or ["nothing looks like a mistake"]
