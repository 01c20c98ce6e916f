"""From a spec to the questions it asks: ranges and boxes of any number of attributes."""

import pytest

from dpress.core.maps.ranges import AllRanges, Prefixes, Range, RangeList, RangesOfLength
from dpress.core.maps.workload import Boxes
from dpress.kinds.ranges.design import choose
from dpress.release.plan.plan import plan

WITH_SIZE = ["age", "size"]


def test_all_ranges_are_asked_for_unless_something_else_is(make_spec):
    assert choose(make_spec("ranges", ["age"])).workload == Boxes((AllRanges(10),))
    assert choose(make_spec("ranges", WITH_SIZE)).workload == Boxes((AllRanges(10), AllRanges(4)))
    assert choose(make_spec("ranges", ["age"], parameters={"queries": "all"})).workload == Boxes((AllRanges(10),))


def test_prefixes_and_lengths_hold_for_every_attribute(make_spec):
    prefixes = make_spec("ranges", WITH_SIZE, parameters={"queries": "prefixes"})
    assert choose(prefixes).workload == Boxes((Prefixes(10), Prefixes(4)))
    one = make_spec("ranges", ["age"], parameters={"length": 7})
    assert choose(one).workload == Boxes((RangesOfLength(10, 7),))
    both = make_spec("ranges", WITH_SIZE, parameters={"length": [7, 3]})
    assert choose(both).workload == Boxes((RangesOfLength(10, 7), RangesOfLength(4, 3)))
    assert choose(make_spec("ranges", ["age"], parameters={"length": [10]})).workload.queries == 1


def test_listed_queries_become_ranges_in_their_order_and_as_often_as_they_are_listed(make_spec):
    queries = ["age in 2..5", "age >= 8", "total", "age in 2..5"]
    ranges = (Range(3, 6), Range(9, 10), Range(1, 10), Range(3, 6))
    workload = choose(make_spec("ranges", ["age"], parameters={"queries": queries})).workload
    assert workload == Boxes((RangeList(10, ranges),))
    assert not workload.paired


def test_listed_boxes_are_paired_and_an_attribute_that_is_not_named_is_asked_for_whole(make_spec):
    queries = ["age in 2..5 and size < 4", "size >= 6", "age = 9"]
    workload = choose(make_spec("ranges", WITH_SIZE, parameters={"queries": queries})).workload
    ages = RangeList(10, (Range(3, 6), Range(1, 10), Range(10, 10)))
    assert workload == Boxes((ages, RangeList(4, (Range(1, 2), Range(4, 4), Range(1, 4)))), paired=True)
    assert workload.queries == 3


def test_the_order_of_the_attributes_is_that_of_the_release(make_spec):
    spec = make_spec("ranges", ["size", "age"], parameters={"length": [3, 7]})
    assert choose(spec).workload == Boxes((RangesOfLength(4, 3), RangesOfLength(10, 7)))


def test_2048_queries_can_be_listed_and_one_more_cannot(make_spec):
    listed = make_spec("ranges", ["age"], parameters={"queries": ["age in 2..5"] * 2048})
    assert choose(listed).workload.queries == 2048
    with pytest.raises(ValueError, match="list between 1 and 2048 ranges, got 2049"):
        choose(make_spec("ranges", ["age"], parameters={"queries": ["age in 2..5"] * 2049}))


@pytest.mark.parametrize(
    ("attributes", "parameters", "message"),
    [
        (["age"], {"queries": "some"}, 'queries: expected "all", "prefixes" or a list of queries'),
        (["age"], {"queries": []}, "queries: expected at least one query"),
        (["age"], {"queries": ["age = 3", 3]}, "queries: expected"),
        (["age"], {"queries": {"age": 3}}, "queries: expected"),
        (["age"], {"queries": ["age != 3"]}, r"age != ...: write a range such as `in a..b`"),
        (["age"], {"queries": ["age in (3, 4)"]}, r"age in ...: write a range"),
        (["age"], {"queries": ["age = 1", "age in 5..2"]}, r"parameters.queries\[#2\]: age: the ends of 5..2"),
        (["age"], {"queries": ["age < 2 and age > 5"]}, "its conditions exclude each other"),
        (["age"], {"queries": ["sex = F"]}, "cannot read 'sex = F'"),
        (["age"], {"queries": "all", "length": 3}, "set either `queries` or `length`"),
        (["age"], {"length": 0}, "length: expected an integer >= 1"),
        (["age"], {"length": -1}, "length: expected an integer >= 1"),
        (["age"], {"length": "3"}, "length: expected an integer >= 1"),
        (["age"], {"length": 11}, r"parameters.length: length must be at most the 10 cells there are"),
        (WITH_SIZE, {"length": 3}, "length: expected a list of 2 numbers, one for each attribute, got 3"),
        (WITH_SIZE, {"length": [3]}, r"length: expected a list of 2 numbers, one for each attribute, got \[3\]"),
        (WITH_SIZE, {"length": [3, 2, 1]}, "length: expected a list of 2 numbers"),
        (
            ["age", "sex"],
            {},
            r"date or ordinal attributes, got age \(integer\), sex \(cat",
        ),
    ],
)
def test_what_is_no_workload_of_ranges_is_refused(make_spec, attributes, parameters, message):
    with pytest.raises(ValueError, match=message):
        choose(make_spec("ranges", attributes, parameters=parameters))


def test_parameters_of_the_workload_are_none_of_the_method(make_spec):
    """`length` and `queries` are understood for every method; beside them a method's own parameters are."""
    planned = plan(make_spec("ranges", ["age"], parameters={"length": 3, "branching": 4}))
    assert [one.method for one in planned.candidates] == ["hierarchy"]
    assert planned.workload == Boxes((RangesOfLength(10, 3),))
