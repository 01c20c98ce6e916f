"""What a check of the rows says to whoever holds them: exact, so never private."""

from dpress.data.persons.contributions import Contributions
from dpress.release.truth.bounds_check import DRAWS, BoundsCheck
from dpress.release.truth.data_check import AttributeCheck, DataCheck
from dpress.release.truth.names_check import NamesCheck
from dpress.release.truth.sets_check import SetsCheck
from dpress.release.truth.strings_check import StringsCheck


def lines(found: DataCheck) -> list[str]:
    """Return the check in words: for the curator's eyes."""
    out = [f"{found.rows:,} rows; {found.kept:,} would be counted"]
    for one in found.attributes:
        out += ["", *_attribute(one)]
    if (persons := found.persons) is not None:
        out += ["", f"{_persons(persons)}, at most {persons.largest:,}"]
        for cap, kept in persons.kept.items():
            share, width = _share(kept, persons.rows), len(f"{persons.rows:,}")
            out.append(f"  rows_per_unit = {cap:<4} keeps {kept:>{width},} rows ({share:>6}) at {_noise(cap)}")
            if cap >= persons.largest:
                break
    if (names := found.names) is not None:
        out += ["", *_names(names)]
    if (strings := found.strings) is not None:
        out += ["", *_strings(strings)]
    if (sets := found.sets) is not None:
        out += ["", *_sets(sets)]
    for own in found.totals:
        cut = _share(own.low + own.high, own.totals)
        what = f"{own.attribute}: {own.totals:,} totals of persons, in groups and over all"
        out += ["", what, f"  {own.low:,} below their bounds, {own.high:,} above: {cut} would be cut"]
    for bounds in found.bounds:
        out += ["", *_bounds(bounds)]
    return [*out, "", *_verdict(found)]


def _bounds(found: BoundsCheck) -> list[str]:
    (low, high), (half, most) = found.ends, found.outside
    return [
        f"{found.attribute}: bounds as they might be chosen, by {DRAWS} draws: {low:.10g}..{high:.10g} at the median",
        f"  {half:,} rows ({_share(half, found.rows)}) would be outside and count as the bounds, {most:,} at worst",
    ]


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


def _names(found: NamesCheck) -> list[str]:
    half, nearly = found.counts
    names = f"{found.attribute}: {found.names:,} different names; about {found.expected:,.1f} would be released, which"
    counts = f"  a count of {half:,} is released with a chance of 50 %, one of {nearly:,} with 99 %"
    few = "; smaller ones, too, of persons with few names" if found.weighted else ""
    return [f"{names} have {found.share:.1%} of all {'weights' if found.weighted else 'counts'}", counts + few]


def _strings(found: StringsCheck) -> list[str]:
    much = f"{found.attribute}: {found.strings:,} different strings; {found.found:,} have {found.enough:,} people"
    beside = [f"  {count:,} {reason}: they count with the rest" for reason, count in sorted(found.beside.items())]
    return [f"{much}, with which one is found with a chance of 50 %", *beside]


def _sets(found: SetsCheck) -> list[str]:
    much = f"{found.attribute}: {found.people:,} sets of {found.mean:.2f} values on average; {found.empty:,} are empty"
    cap = f"  cap = {found.cap} is exceeded by {found.above:,} ({_share(found.above, found.people)}) and keeps"
    fate = ", which devices refuse" if found.refused else ", counted as one of their own"
    beside = [f"  {found.unlisted:,} have a value that is not listed{fate}"] if found.unlisted else []
    return [much, f"{cap} {found.kept:.1%} of all held values: counts are too low by the rest", *beside]


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
    shown = [f"  {number:>12,}  {words}{fate} ({_share(number, one.rows)})" for number, words, fate in rows if number]
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


def _share(part: int, whole: int) -> str:
    return f"{part / max(whole, 1):.1%}"


def _verdict(found: DataCheck) -> list[str]:
    """Return what looks like a mistake; that nothing does, otherwise."""
    out = [f"{name}: more than {found.most:.0%} of the values have no cell of their own" for name in found.suspicious]
    out += [f"{name}: `publish` would refuse the table" for name in found.refused]
    out += [
        f"{name}: most positions would lie in the box if its two columns were exchanged" for name in found.exchanged
    ]
    out += [_unsure(one) for one in found.bounds if not one.passed]
    out += _few_persons(found)
    return out or ["nothing looks like a mistake"]


def _unsure(found: BoundsCheck) -> str:
    """Return why bounds that are chosen would be of no use."""
    if found.rows < found.fewest:
        enough = f"{found.fewest:,} are enough at this budget"
        return f"{found.attribute}: {found.rows:,} rows are too few to find bounds; {enough}"
    share = _share(found.outside[0], found.rows)
    return f"{found.attribute}: bounds that are chosen would leave {share} of the rows outside; state the bounds"
