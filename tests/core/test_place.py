"""Places as people read them: by name, else counted from 1; wrong documents are refused with such places."""

import json

import pytest

from dpress import SchemaMismatch, load_spec, plan
from dpress.core.basics.place import readable
from dpress.document.design import as_plain, encode, from_plain
from dpress.query.designs import load_design

DOCUMENT = {"a": [{"name": "age"}, {"name": "x[0]"}, {}, {"name": 3}], "b": [[1, 2]]}
SPEC = {
    "attribute": [
        {"kind": "integer", "name": "age", "bounds": [0, 9]},
        {"kind": "categorical", "name": "sex", "values": ["F", "M"]},
    ],
    "privacy": {"model": "local", "epsilon": 1.0},
    "release": {"kind": "marginals"},
}


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("$.a[0]", "$.a[age]"),
        ("$.a[0].values[1]", "$.a[age].values[#2]"),
        ("$.a[1].b", "$.a[#2].b"),
        ("$.a[2]", "$.a[#3]"),
        ("$.a[3]", "$.a[#4]"),
        ("$.a[9].b[0]", "$.a[#10].b[#1]"),
        ("$.b[0][1]", "$.b[#1][#2]"),
        ("$.none[0]", "$.none[#1]"),
        ("$", "$"),
    ],
)
def test_entries_are_named_or_counted_from_one(place, shown):
    assert readable(f"wrong - at `{place}`", DOCUMENT) == f"wrong - at `{shown}`"
    assert readable(f"{place}: wrong, got [0]", DOCUMENT) == f"{shown}: wrong, got [0]"


def edited(change):
    plain = json.loads(encode(plan(load_spec(SPEC)).design))
    change(plain)
    return plain


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda own: own["ask"]["attributes"][0].update(bounds=[0, "x"]), "$.ask.attributes[age].bounds[#2]"),
        (lambda own: own["attributes"][1].update(values=[1.5, "M"]), "$.attributes[sex].values[#1]"),
        (lambda own: own["attributes"][1].update(valves=[]), "unknown field `valves` - at `$.attributes[sex]`"),
        (lambda own: own["prediction"]["candidates"][0].update(error="x"), "$.prediction.candidates[#1].error"),
        (lambda own: own["ask"]["report_types"][1].update(weight="1"), "$.ask.report_types[#2].weight"),
    ],
)
def test_a_design_that_is_wrong_is_refused_by_such_a_place(change, place):
    with pytest.raises(SchemaMismatch) as refused:
        from_plain(edited(change))
    assert place in str(refused.value)


def test_so_is_one_whose_oracle_is_wrong(tmp_path):
    plain = edited(lambda own: own["ask"]["report_types"][1]["parts"][0]["oracle"].update(method="nobody"))
    (tmp_path / "design.json").write_text(json.dumps(plain))
    with pytest.raises(SchemaMismatch, match=r"\$\.ask\.report_types\[#2\]\.parts\[#1\]\.oracle\.method: there is no"):
        load_design(tmp_path / "design.json")


def test_a_design_that_is_whole_is_not_refused():
    assert as_plain(from_plain(edited(dict))) == as_plain(plan(load_spec(SPEC)).design)


def test_a_specification_says_it_alike():
    for wrong, place in (([0, "x"], r"\$\.attribute\[age\]\.bounds\[#2\]"), ([0, 10**30], r"age\]\.bounds\[#2\]")):
        attribute = [{**SPEC["attribute"][0], "bounds": wrong}]
        with pytest.raises(SchemaMismatch, match=place):
            load_spec({**SPEC, "attribute": attribute})
