"""What a value is on the clocks and calendars of a place: whole hours since 1970-01-01 there.

A moment without a zone is one of these clocks, as it stands. An instant is put on them by the zone's offset from UTC,
which `zoneinfo` knows. So an hour that the clocks show twice is one hour here, of twice the length, and whoever writes
moments need not say which of the two is meant; an hour that the clocks skip holds no instant.
"""

import datetime as dt
import functools
import re
import zoneinfo

import numpy as np
import numpy.typing as npt

from dpress.attributes.value import BLANKS, FIRST_DAY, NANOSECONDS, Kind, Value

Seconds = npt.NDArray[np.int64]

HOUR = 3600  # seconds
STEP = 6 * HOUR  # within which no zone changes its offset twice
FAR = 10**12  # hours; what is further from 1970 counts as so far
FIRST, LAST = (-719_162 + 2) * 24 * HOUR, (2_932_897 - 2) * 24 * HOUR  # of years 1 to 9999, with room for any offset
WRITTEN = re.compile(
    rf"[{BLANKS}]*(?P<day>\d{{4}}-\d\d-\d\d)"
    r"([ T](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(:(?P<second>[0-5]\d|(?<=59:)60)([.,]\d+)?)?"
    rf"(?P<zone>Z|(?P<sign>[+-])(?P<east>[01]\d|2[0-3])(:?(?P<north>[0-5]\d))?)?)?[{BLANKS}]*",
    re.ASCII,
)


def is_zone(name: str) -> bool:
    """Return whether a name is "UTC" or a place of the IANA database, such as "Europe/Berlin"."""
    if name != "UTC" and ("/" not in name or name.startswith(("posix/", "right/"))):
        return False
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def hour_of(value: Value, zone: str | None) -> int | None:
    """Return the hour in which a value lies, None where it is no time.

    Args:
        value: a moment, an instant, or a text that writes one as ISO 8601 does. A leap second counts as the one before.
        zone: of the clocks; without one an instant lies nowhere.
    """
    moment = _read(value.content) if isinstance(value.content, str) else value
    if moment is None or not isinstance(moment.content, int):
        return None
    if moment.kind is Kind.MOMENT:
        hour = int(moment.content // NANOSECONDS["h"])
    elif moment.kind is Kind.INSTANT and zone is not None:
        seconds = moment.content // NANOSECONDS["s"]
        hour = (seconds + offset(zone, seconds)) // HOUR
    else:
        return None
    return min(max(hour, -FAR), FAR)


def offset(zone: str, seconds: int) -> int:
    """Return by how many seconds the clocks of a zone are ahead of UTC at an instant."""
    if zone == "UTC":
        return 0
    near = min(max(seconds, FIRST), LAST)
    instant = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=near)
    ahead = instant.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset() or dt.timedelta()
    return ahead.days * 24 * HOUR + ahead.seconds


def hours_of_instants(zone: str, seconds: Seconds) -> Seconds:
    """Return the hour of every instant, as `hour_of` does.

    Args:
        zone: of the clocks.
        seconds: since 1970 UTC, rounded down, shape (m,).
    """
    near = np.clip(seconds, -2 * FAR * HOUR, 2 * FAR * HOUR)
    if zone != "UTC" and near.size:
        within = np.clip(near, FIRST, LAST)
        years = np.unique(within.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64))
        parts = [_offsets(zone, year) for year in years.tolist()]
        starts, offsets = (np.concatenate(both) for both in zip(*parts, strict=True))
        near = near + offsets[np.searchsorted(starts, within, side="right") - 1]
    return np.clip(near // HOUR, -FAR, FAR)


@functools.lru_cache(maxsize=1 << 14)
def _offsets(zone: str, year: int) -> tuple[Seconds, Seconds]:
    """Return from when on a zone has which offset within a year of UTC, which is counted since 1970."""
    first, end = (int(np.datetime64(begin, "Y").astype("datetime64[s]").astype(np.int64)) for begin in (year, year + 1))
    starts, offsets = [first], [offset(zone, first)]
    for later in range(first + STEP, end + STEP, STEP):
        last = min(later, end - 1)
        if (new := offset(zone, last)) != offsets[-1]:
            before = max(later - STEP, first)
            while last - before > 1:
                middle = (before + last) // 2
                before, last = (middle, last) if offset(zone, middle) == offsets[-1] else (before, middle)
            starts.append(last)
            offsets.append(new)
    return np.array(starts, dtype=np.int64), np.array(offsets, dtype=np.int64)


def _read(text: str) -> Value | None:
    """Return the moment or the instant that a text writes out, in whole seconds, None where it writes none."""
    if (match := WRITTEN.fullmatch(text)) is None:
        return None
    try:
        day = dt.date.fromisoformat(match["day"])
    except ValueError:
        return None
    clock = [min(int(match[part] or 0), 59) for part in ("hour", "minute", "second")]
    seconds = (day.toordinal() - FIRST_DAY) * 24 * HOUR + (clock[0] * 60 + clock[1]) * 60 + clock[2]
    if match["zone"] is None:
        return Value(Kind.MOMENT, seconds * NANOSECONDS["s"])
    ahead = int((match["sign"] or "+") + "1") * (int(match["east"] or 0) * 60 + int(match["north"] or 0)) * 60
    return Value(Kind.INSTANT, (seconds - ahead) * NANOSECONDS["s"])
