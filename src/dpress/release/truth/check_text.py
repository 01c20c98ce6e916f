"""What a check of the rows says to whoever holds them: exact, so never private."""

from dpress.data.persons.contributions import Contributions
from dpress.release.truth.data_check import AttributeCheck, DataCheck
from dpress.release.truth.finding import share


def lines(report: DataCheck) -> list[str]:
    """Return the check in words: for the curator's eyes."""
    out = [f"{report.rows:,} rows; {report.kept:,} would be counted"]
    if report.where:
        out += [f"{report.others:,} more rows are left out, of which `{report.where}` does not hold"]
    if report.nameless:
        out += [f"{report.nameless:,} more rows have no {report.unit} and are left out, as missing_unit says"]
    for attribute in report.attributes:
        out += ["", *_attribute(attribute)]
    if (persons := report.persons) is not None:
        out += ["", f"{_persons(persons)}, at most {persons.largest:,}"]
        for cap, kept in persons.kept.items():
            percent, width = share(kept, persons.rows), len(f"{persons.rows:,}")
            out.append(f"  rows_per_unit = {cap:<4} keeps {kept:>{width},} rows ({percent:>6}) at {_noise(cap)}")
            if cap >= persons.largest:
                break
    for finding in report.findings.values():
        for paragraph in finding.lines:
            out += ["", *paragraph]
    return [*out, "", *_verdict(report)]


def _persons(contributions: Contributions) -> str:
    many = "1 person" if contributions.persons == 1 else f"{contributions.persons:,} persons"
    return f"{many} with {contributions.rows / max(contributions.persons, 1):,.1f} rows each"


def _few_persons(report: DataCheck) -> list[str]:
    """Return why what names persons probably names something else."""
    if report.persons is None or not report.few_persons:
        return []
    remedy = (
        'name the column that tells people apart, or those that do together, as unit = ["household", "number"] does'
    )
    many = f"{report.unit}: {_persons(report.persons)}: it probably names no person, but a place or a group"
    return [f"{many}, of which only `rows_per_unit` rows would count; {remedy}"]


def _attribute(column: AttributeCheck) -> list[str]:
    outside, null = column.policies["outside"], column.policies["null"]
    rows = [
        (column.matched, "in their cells", ""),
        (column.other, "not listed", _fate(outside)),
        (column.low, "below the bounds", _fate(outside)),
        (column.high, "above the bounds", _fate(outside)),
        (column.missing, "missing", _fate(null)),
        (column.unread, "not of the attribute's type", _fate(null)),
    ]
    shown = [f"  {number:>12,}  {words}{fate} ({share(number, column.rows)})" for number, words, fate in rows if number]
    texts = [f"    {text!r}: {number:,}" for text, number in column.texts]
    remedy = [f"  {column.remedy}"] if column.remedy else []
    return [column.name, *shown, *(["  most frequent without a cell:", *texts] if texts else []), *remedy]


def _fate(policy: str) -> str:
    fates = {
        "reject": ", for which the table is refused",
        "drop": ", whose rows are left out",
        "clamp": ", counted at the bound",
    }
    return fates.get(policy, f', counted as "{policy}"')


def _noise(cap: int) -> str:
    return "the least noise" if cap == 1 else f"{cap} times that noise"


def _verdict(report: DataCheck) -> list[str]:
    """Return what looks like a mistake; that nothing does, otherwise."""
    out = [f"{name}: more than {report.most:.0%} of the values have no cell of their own" for name in report.suspicious]
    out += [f"{name}: `publish` would refuse the table" for name in report.refused]
    out += [
        f"{name}: most positions would lie in the box if its two columns were exchanged" for name in report.exchanged
    ]
    out += report.faults
    out += _few_persons(report)
    return out or ["nothing looks like a mistake"]
