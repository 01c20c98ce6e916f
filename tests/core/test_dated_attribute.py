"""Dates in cells: their codes, edges and names, by the definition and by Python's own calendar."""

import datetime as dt
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpress.attributes.attribute import Attribute
from dpress.attributes.dates import calendar_cells, local_time
from dpress.attributes.dates.calendar_cells import ROUND
from dpress.attributes.policy import DROPPED, MISSING, OUTSIDE
from dpress.core.basics.errors import SchemaMismatch

LINEAR = ("day", "week", "month", "quarter", "year")
DAYS = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 30))


def attribute(cells="month", bounds=("2024-01-15", "2024-12-31"), **plain):
    plain = {"kind": "date", "name": "x", "cells": cells, **plain}
    return msgspec.convert(plain | ({"bounds": bounds} if bounds else {}), Attribute)


def times(cells="hour", zone="Europe/Berlin", **plain):
    return attribute(cells, kind="datetime", zone=zone, **plain)


def of_python(cells, day):
    """Return which cell a day is in, by Python's calendar."""
    week = day.isocalendar()
    names = {
        "day": day.isoformat(),
        "week": f"{week.year:04}-W{week.week:02}",
        "month": day.isoformat()[:7],
        "quarter": f"{day.isoformat()[:4]}-Q{(day.month + 2) // 3}",
        "year": day.isoformat()[:4],
        "weekday": f"{day:%A}",
        "month of year": f"{day:%B}",
    }
    return names[cells]


@pytest.mark.parametrize("cells", LINEAR)
@given(first=DAYS, days=st.integers(0, 800), inside=st.integers(0, 800))
@settings(max_examples=60, deadline=None)
def test_a_day_lies_in_the_cell_that_the_calendar_says(cells, first, days, inside):
    last = min(first + dt.timedelta(min(days, (dt.date(9999, 12, 30) - first).days)), dt.date(9999, 12, 30))
    day = first + dt.timedelta(min(inside, (last - first).days))
    own = attribute(cells, (first.isoformat(), last.isoformat()))
    found = own.codes(day)[0]
    low, high = (int(edge) for edge in own.edges_at(np.array([found, found + 1])))
    hour = (day.toordinal() - dt.date(1970, 1, 1).toordinal()) * 24
    assert low <= hour < high
    label = own.labels_between(found, found + 1)[0]
    cut = found in (0, own.ordered - 1) and label != of_python(cells, day)
    assert cut or label == of_python(cells, day)
    assert not cut or label in (*own.inclusive(low, high), "..".join(own.inclusive(low, high)))
    assert own.code(label) == found
    assert np.array_equal(own.edge_below(own.edges), np.arange(own.ordered + 1))
    assert (np.diff(own.edges) > 0).all()
    assert own.ends == tuple(own.edges[[0, -1]].tolist())


@pytest.mark.parametrize("cells", ["weekday", "month of year"])
@given(day=DAYS)
@settings(max_examples=100, deadline=None)
def test_a_cell_that_comes_round_is_that_of_the_calendar(cells, day):
    own = attribute(cells, None)
    assert own.labels[own.codes(day)[0]] == of_python(cells, day)
    assert own.labels == ROUND[cells]
    assert own.ordered == own.size == len(own.labels)


def test_names_of_cells_and_what_bounds_cut():
    assert attribute("month").labels[:2] == ("2024-01-15..2024-01-31", "2024-02")
    assert attribute("month", ("2024-01-31", "2024-02-29")).labels == ("2024-01-31", "2024-02")
    assert attribute("month", ("2024-01-10", "2024-01-12")).labels == ("2024-01-10..2024-01-12",)
    assert attribute("week", ("2020-12-28", "2021-01-10")).labels == ("2020-W53", "2021-W01")
    assert attribute("week", ("2020-12-31", "2021-01-03")).labels == ("2020-12-31..2021-01-03",)
    assert attribute("quarter", ("2024-01-01", "2024-07-01")).labels == ("2024-Q1", "2024-Q2", "2024-07-01")
    assert attribute("year", ("2023-01-01", "2024-12-30"), null="none").labels == (
        "2023",
        "2024-01-01..2024-12-30",
        "none",
    )
    hours = times("hour", bounds=("2024-02-29", "2024-02-29"))
    assert (hours.size, hours.labels[0], hours.labels[-1]) == (24, "2024-02-29T00", "2024-02-29T23")
    assert times("hour of day", bounds=None).labels[:3] == ("00", "01", "02")
    assert attribute("day", ("0001-01-01", "9999-12-30")).size == 3_652_058


@pytest.mark.parametrize("day", ["2024-02-29", dt.date(2024, 2, 29), np.datetime64("2024-02-29T23:59:59.999999999")])
def test_the_last_of_february(day):
    own = attribute("day", ("2024-02-28", "2024-03-01"))
    assert own.labels[own.codes(day)[0]] == "2024-02-29"
    assert attribute("day", ("2023-02-28", "2023-03-01")).cell("2023-02-29") == MISSING


def test_ends_of_the_bounds_and_beyond():
    day = dt.timedelta(1)
    first, last = dt.date(2024, 1, 15), dt.date(2024, 12, 31)
    kept = attribute("day", outside="drop")
    assert [kept.cell(one) for one in (first - day, first, last, last + day)] == [OUTSIDE, 0, 351, OUTSIDE]
    assert kept.codes(first - day)[0] == DROPPED
    clamped = attribute("day")
    far = [first - day, last + day, dt.date(1, 1, 1), dt.date(9999, 12, 31), np.datetime64("20000-01-01"),
           np.datetime64("-20000-01-01"), np.datetime64(2**62, "s"), np.datetime64(-(2**62), "W")]  # fmt: skip
    assert [clamped.codes(one)[0] for one in far] == [0, 351, 0, 351, 351, 0, 351, 0]
    with pytest.raises(SchemaMismatch, match="attribute x: a value is not in its cells; say what to do in `outside`"):
        attribute("day", outside="reject").codes(first - day)[0]
    instants = times("day", bounds=("2024-07-01", "2024-07-01"), outside="drop")
    ends = ["2024-06-30T21:59:59.999Z", "2024-06-30T22:00:00Z", "2024-07-01T21:59:59.999999999Z", "2024-07-01T22:00Z"]
    assert [instants.cell(one) for one in ends] == [OUTSIDE, 0, 0, OUTSIDE]


READ = {
    "2024-06-01": "2024-06-01T00", " 2024-06-01\t": "2024-06-01T00", "2024-06-01 05:59": "2024-06-01T05",
    "2024-06-01T05:59:59.999999999999": "2024-06-01T05", "2024-06-01T05:00:00,5": "2024-06-01T05",
    "2024-06-01T22:30:00Z": "2024-06-02T00", "2024-06-01T22:30+05:30": "2024-06-01T19",
    "2024-06-01 12:00:00+02": "2024-06-01T12", "2024-06-01T12:00:00-0930": "2024-06-01T23",
    "2016-12-31T23:59:60": "2016-12-31T23", "2016-12-31T23:59:60Z": "2017-01-01T00",
    "2024-03-31T02:30:00": "2024-03-31T02",
}  # fmt: skip
NO_DATES = ["", "2024", "2024-06", "24-06-01", "2024-6-1", "2023-02-29", "2024-13-01", "2024-00-10", "0000-01-01",
            "12024-06-01", "-2024-06-01", "2024-06-01T24:00", "2024-06-01T05:60", "2024-06-01T05:30:60", "20240601",
            "2024-06-01T05", "2024-06-01Z", "01.06.2024", "2024-06-01T05:00 CET", "infinity", "2024-06-01T05:00+24:00",
            "٢024-06-01", 20240601, 1.5, True, dt.time(12), dt.timedelta(1), None, float("nan"), b"\xff"]  # fmt: skip


def test_texts_as_iso_8601_writes_them():
    own = times("hour", bounds=("2016-12-31", "2024-12-31"), outside="reject")
    assert {text: own.labels_between(own.codes(text)[0], own.codes(text)[0] + 1)[0] for text in READ} == READ
    assert [one for one in NO_DATES if own.cell(one) != MISSING] == []
    assert [one for one in NO_DATES if attribute(outside="drop").cell(one) != MISSING] == []


def test_an_instant_has_no_day_without_a_place():
    moment = dt.datetime(2024, 6, 1, 23, 30, tzinfo=dt.UTC)
    assert attribute("day").cell(moment) == attribute("day").cell("2024-06-01T23:30Z") == MISSING
    assert attribute("day").cell(moment.replace(tzinfo=None)) == attribute("day").cell("2024-06-01")
    own = times("day")
    assert own.labels[own.codes(moment)[0]] == "2024-06-02"
    assert own.labels[own.codes(moment.replace(tzinfo=None))[0]] == "2024-06-01"


def test_hours_of_daylight_saving():
    own = times("hour", bounds=("2024-03-31", "2024-10-27"))

    def named(value):
        return own.labels_between(own.codes(value)[0], own.codes(value)[0] + 1)[0]

    assert [named(f"2024-10-26T{one}:30Z") for one in ("23",)] == ["2024-10-27T01"]
    assert [named(f"2024-10-27T{one}:30Z") for one in ("00", "01", "02")] == [
        "2024-10-27T02",
        "2024-10-27T02",
        "2024-10-27T03",
    ]
    berlin = ZoneInfo("Europe/Berlin")
    twice = [dt.datetime(2024, 10, 27, 2, 30, fold=fold, tzinfo=berlin) for fold in (0, 1)]
    assert [named(one) for one in twice] == ["2024-10-27T02"] * 2
    assert [named(f"2024-03-31T{one}:30Z") for one in ("00", "01")] == ["2024-03-31T01", "2024-03-31T03"]


ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia",
         "Africa/Casablanca", "Asia/Kathmandu", "America/St_Johns", "Europe/Dublin"]  # fmt: skip


@pytest.mark.parametrize("zone", ZONES)
@given(seconds=st.lists(st.integers(-70_000_000_000, 260_000_000_000) | st.integers(-4 * 10**9, 4 * 10**9)))
@settings(max_examples=25, deadline=None)
def test_offsets_of_many_instants_are_those_of_each(zone, seconds):
    found = local_time.hours_of_instants(zone, np.array(seconds, dtype=np.int64))
    assert found.tolist() == [(one + local_time.offset(zone, one)) // 3600 for one in seconds]


@pytest.mark.parametrize("zone", ZONES)
def test_offsets_around_every_change(zone):
    changes = [part for year in range(-80, 70) for part in local_time._offsets(zone, year)[0].tolist()]
    near = np.array([one + step for one in changes for step in (-1, 0, 1)])
    wanted = [(one + local_time.offset(zone, one)) // 3600 for one in near.tolist()]
    assert local_time.hours_of_instants(zone, near).tolist() == wanted
    assert zone in ("UTC", "Asia/Kolkata", "Asia/Kathmandu") or len(changes) > 160


def test_a_wrong_offset_is_found(monkeypatch):
    monkeypatch.setattr(local_time, "_offsets", lambda *_: (np.array([0]), np.array([3600])))
    with pytest.raises(AssertionError):
        test_offsets_around_every_change("Europe/Berlin")


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"bounds": ["2024-02-30", "2024-12-31"]}, r"Invalid RFC3339 encoded date - at `\$.bounds\[0\]`"),
        ({"bounds": ["2024-12-31", "2024-01-01"]}, "the first and the last day, up to 9999-12-30, got 2024-12-31"),
        ({"bounds": ["2024-12-31", "9999-12-31"]}, "up to 9999-12-30, got 2024-12-31 and 9999-12-31"),
        ({"bounds": None}, "attribute x: cells = 'month' need `bounds`, the first and the last day"),
        ({"cells": "minute"}, "Invalid enum value 'minute'"),
        ({"cells": "hour"}, "attribute x: cells = 'hour' need kind = \"datetime\" with a `zone`"),
        ({"cells": "hour of day"}, "attribute x: cells = 'hour of day'"),
        ({"cells": "weekday"}, "`outside` must be \"drop\" or \"reject\" where cells = 'weekday': none of them is"),
        ({"null": "2024-05"}, "`null` must not be the name of another cell, got '2024-05'"),
        ({"null": "2024-01-15..2024-01-31"}, "`null` must not be the name of another cell"),
        *(
            ({"kind": "datetime", "zone": zone}, '`zone` must be "UTC" or a name of the IANA database')
            for zone in ("CET", "localtime", "Europe/Nowhere", "right/UTC", "../etc/passwd", "", "Europe/", "UTC+1")
        ),
        ({"zone": "UTC"}, "Object contains unknown field `zone`"),
    ],
)  # fmt: skip
def test_what_is_no_attribute_of_dates_is_refused(plain, message):
    plain = {"kind": "date", "name": "x", "cells": "month", "bounds": ["2024-01-15", "2024-12-31"], **plain}
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.convert({name: value for name, value in plain.items() if value is not None}, Attribute)


def test_periods_of_a_query():
    named = calendar_cells.period
    assert named("2024") == (473352, 482136)
    assert named("2024-Q1").end == named("2024-Q2").first == named("2024-04").first == named("2024-04-01T00").first
    assert named("2024-W01") == (named("2024-01-01").first, named("2024-01-07").end)
    assert named("2020-W53").end == named("2021-W01").first
    assert named("9999-12-31").end == named("9999").end
    assert named("2024-05-01 07") == named("2024-05-01T07")
    for text in ("2024-W54", "2021-W53", "2024-W00", "2024-Q5", "2024-02-30", "2024-1", "24", "2024-05-01T24", "x", ""):
        with pytest.raises(ValueError, match=r"period|week|Day|Month|string"):
            named(text)
