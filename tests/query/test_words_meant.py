"""Titles are read as the names of attributes; a value without its attribute is refused with the form that is right."""

import pyarrow as pa
import pytest

from dpress import publish
from dpress.core.basics.rng import seeded

CARRIER = {"name": "carrier", "title": "Airline", "kind": "categorical", "values": ["AA", "DL"]}
ARRIVAL = {"name": "arrival", "title": "On arrival", "kind": "categorical", "values": ["late", "in time"]}
DELAY = {"name": "delay", "title": "Delay (of a flight)", "unit": "min", "kind": "integer", "bounds": [0, 9]}
ROWS = pa.table({"carrier": ["AA", "DL"] * 60, "arrival": ["late", "in time", "late"] * 40, "delay": [*range(10)] * 12})


def released(*attributes):
    plain = {"attribute": list(attributes), "privacy": {"epsilon": 9}, "release": {"kind": "histogram"}}
    return publish(plain, ROWS, rng=seeded(3))


@pytest.fixture(scope="module")
def flights():
    return released(CARRIER, ARRIVAL, DELAY)


@pytest.mark.parametrize(
    ("titled", "named"),
    [
        ("count by airline", "count by carrier"),
        ("mean Delay (of a flight) (min)", "mean delay"),
        ("count by 'Airline', on arrival", "count by carrier, arrival"),
        ("On arrival = late and airline = DL", "arrival = late and carrier = DL"),
        ("count airline = AA - count airline = DL where 'on arrival' = late",
         "count carrier = AA - count carrier = DL where arrival = late"),
        ("mean Delay (of a flight) by Airline", "mean delay by carrier"),
        ("share 'on arrival' = 'in time' where airline = AA", "share arrival = 'in time' where carrier = AA"),
    ],
)  # fmt: skip
def test_a_title_is_read_as_the_name_of_its_attribute(flights, titled, named):
    values = [[(each.group, each.value) for each in flights.results(text)] for text in (titled, named)]
    assert values[0] == values[1]


def test_a_title_of_two_attributes_or_that_is_a_name_stands_for_none():
    """What was read before is read the same."""
    twice = released({**CARRIER, "title": "Way"}, {**ARRIVAL, "title": "way"})
    with pytest.raises(ValueError, match="there is no attribute 'way'; the attributes are carrier, arrival"):
        twice.results("count by way")
    crossed = released({**CARRIER, "title": "arrival"}, ARRIVAL)
    assert [label for each in crossed.results("count by arrival") for _, label in each.group] == ["late", "in time"]


@pytest.mark.parametrize("title", ["Carrier", None])
def test_a_name_in_capitals_is_read_as_the_name_where_no_other_differs_by_them_alone(title):
    column = {name: value for name, value in {**CARRIER, "title": title}.items() if value is not None}
    release = released(column, ARRIVAL)
    assert release.results("count by CARRIER")[0].group == release.results("count by carrier")[0].group
    twice = released(column, {**ARRIVAL, "name": "Carrier", "column": "arrival"})
    with pytest.raises(ValueError, match="there is no attribute 'CARRIER'"):
        twice.results("count by CARRIER")


def test_a_title_within_a_value_stays(flights):
    with pytest.raises(ValueError, match="carrier has no value 'Airline'; it has AA, DL"):
        flights.query("carrier = 'Airline'")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("share late where carrier = AA", "'late' is a value of arrival: write `share arrival = late`"),
        ("share 'in time' by carrier", "'in time' is a value of arrival: write `share arrival = 'in time'`"),
        ("count late", "'late' is a value of arrival: write `count arrival = late`"),
        ("not late", "'late' is a value of arrival: write `not arrival = late`"),
        ("late", "'late' is a value of arrival: write `arrival = late`"),
        ("ratio late / in time", "'late' is a value of arrival: write `arrival = late`"),
    ],
)
def test_a_value_without_its_attribute_is_refused_with_both(flights, text, meant):
    with pytest.raises(ValueError, match="is a value of") as refused:
        flights.query(text)
    assert str(refused.value) == f"cannot read {text!r}; {meant}"
    assert flights.query(meant.split("`")[1]).value > 0


def test_an_attribute_alone_is_counted_by_its_values(flights):
    with pytest.raises(ValueError, match="'count carrier'; how many have each value is `count by carrier`"):
        flights.query("count carrier")


def test_a_word_that_is_no_value_is_refused_as_before(flights):
    with pytest.raises(ValueError, match=r"cannot read 'early'; write e\.g\. `NAME in"):
        flights.query("share early")
