"""Constraints of a specification: in every record of every method that keeps them, told before, and refused before."""

import json

import msgspec
import pyarrow as pa
import pytest

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported, SchemaMismatch
from dpress.data.specification.toml import as_toml
from dpress.kinds.microdata import plan_text
from dpress.kinds.microdata.page import page
from dpress.query.designs import load_design, save_design

TREE = [[village, village[0], "*"] for village in ("Na", "Nb", "Sa", "Sb")]
ATTRIBUTES = [
    {"name": "age", "kind": "integer", "bounds": [0, 89], "bins": 30},
    {"name": "sex", "kind": "categorical", "values": ["F", "M"], "labels": {"F": "female", "M": "male"}},
    {"name": "pregnant", "kind": "categorical", "values": ["no", "yes"]},
    {"name": "village", "kind": "categorical", "values": [row[0] for row in TREE], "hierarchy": TREE, "other": "?"},
    {"name": "district", "kind": "categorical", "values": ["N", "S"], "other": "?"},
]
CONSTRAINTS = [
    {"impossible": "sex = male and pregnant = yes"},
    {"holds": "pregnant = no or age in 15..47"},
    {"determines": ["village", "district"]},
]


def spec(method="auto", constraints=CONSTRAINTS, attributes=ATTRIBUTES, **parameters):
    release = {"kind": "microdata", "method": method, "parameters": parameters}
    plain = {"attribute": attributes, "privacy": {"epsilon": 2}, "release": release}
    return dpress.load_spec({**plain, "constraint": constraints} if constraints else plain)


def table(count=1200):
    ages, sexes = [k * 37 % 90 for k in range(count)], ["FM"[k % 2] for k in range(count)]
    villages = [TREE[k * k % 4][0] for k in range(count)]
    rows = enumerate(zip(ages, sexes, strict=True))
    pregnant = ["yes" if s == "F" and 15 <= a < 45 and k % 3 == 0 else "no" for k, (a, s) in rows]
    columns = {"age": ages, "sex": sexes, "pregnant": pregnant, "village": villages}
    return pa.table({**columns, "district": [village[0] for village in villages]})


def broken(records):
    """Return how many records break each constraint, by their values."""
    rows = records.to_pylist()
    men = sum(row["sex"] == "M" and row["pregnant"] == "yes" for row in rows)
    ages = sum(row["pregnant"] == "yes" and not 15 <= row["age"] <= 47 for row in rows)
    return men, ages, sum(row["village"][0] != row["district"] for row in rows)


@pytest.mark.parametrize(
    ("method", "parameters"),
    [("graphical", {}), ("graphical", {"rounds": 3}), ("dp_prototypes", {"users": 1200, "clusters": 4})],
)
def test_no_record_breaks_a_constraint(method, parameters, tmp_path):
    planned = dpress.plan(spec(method, **parameters))
    saved = load_design(save_design(planned.design, tmp_path / "design.json"))
    release = dpress.publish(saved, table(), out=tmp_path / "release", rng=rng.seeded(3))
    records = dpress.load_release(tmp_path / "release").answers.made.table
    assert records.num_rows > 1000
    assert broken(records) == (0, 0, 0)
    assert 0.03 < release.query("pregnant = yes").value / records.num_rows < 0.15  # of the rows a twelfth
    stated = json.loads((tmp_path / "release" / "release.json").read_text())["design"]["specification"]["constraint"]
    assert stated == CONSTRAINTS


def test_without_them_records_break_all(tmp_path):
    """The control of the test above."""
    dpress.publish(spec("dp_prototypes", None, users=1200, clusters=4), table(), out=tmp_path / "r", rng=rng.seeded(3))
    assert min(broken(dpress.load_release(tmp_path / "r").answers.made.table)) > 1


def test_what_is_computed_is_not_measured_and_the_plan_and_the_page_say_so(tmp_path):
    planned = dpress.plan(spec("graphical"))
    assert len(planned.chosen.mechanism.synthesizer.columns) == 4
    assert planned.chosen.mechanism.claim.proven == planned.spec.privacy.loss
    remarks = [str(remark) for remark in plan_text.text(planned).remarks]
    first = "In every record holds: `not (sex = male and pregnant = yes)`; `pregnant = no or age in 15..47`"
    holds = f"{first}; `village determines district`."
    assert holds in remarks
    assert "Computed, and so not measured: district; the loss goes to the other attributes." in remarks
    release = dpress.publish(planned, table(), out=tmp_path / "release", rng=rng.seeded(3))
    text = page(release)
    assert "In every record holds: <code>not (sex = male and pregnant = yes)</code>; <code>pregnant = no or" in text
    assert "Computed from other attributes, and not measured: district." in text
    assert text.count("No noisy histogram stands behind them") == 1  # behind the district's
    without = plan_text.text(dpress.plan(spec("graphical", None)))
    assert not any("every record holds" in str(remark) for remark in without.remarks)


def test_a_specification_without_constraints_is_the_same_design_as_ever():
    plain = msgspec.to_builtins(dpress.plan(spec("graphical", None)).design.ask)
    assert set(plain["mechanism"]) == {"method", "weights", "synthesizer"}


def test_a_check_counts_the_rows_that_break_each():
    rows = table().to_pylist()
    rows[0] |= {"sex": "M", "pregnant": "yes"}
    rows[1] |= {"village": "Na", "district": "S"}
    report = dpress.check(spec(), pa.Table.from_pylist(rows))
    figures = report.findings["constraints"].figures
    assert [figure.broken for figure in figures] == [1, 1, 1]  # a man of age 0
    assert not report.passed
    assert any("`village determines district`: 1; no record will be like them" in fault for fault in report.faults)
    assert dpress.check(spec(), table()).passed
    assert "constraints" not in dpress.check(spec(constraints=None), table()).findings


def test_a_table_of_the_specification_or_of_a_file_determines_too(tmp_path):
    pairs = {"Na": "N", "Nb": "N", "Sa": "S", "Sb": "S"}
    (tmp_path / "villages.csv").write_text("village,district\n" + "".join(f"{a},{b}\n" for a, b in pairs.items()))
    stated = spec(constraints=[{"determines": ["village", "district"], "table": pairs}])
    constraint = {"determines": ["village", "district"], "table": "villages.csv"}
    plain = msgspec.to_builtins(stated) | {"constraint": [constraint]}
    (tmp_path / "spec.toml").write_text(as_toml(plain))
    named = dpress.load_spec(tmp_path / "spec.toml")
    rules = [dpress.plan(each).chosen.mechanism.rules for each in (stated, named, spec(constraints=CONSTRAINTS[2:]))]
    assert rules[0] == rules[1] == rules[2]
    assert rules[0].determined[0].codes == (0, 0, 1, 1, 2)  # the cell for others among them
    (tmp_path / "villages.csv").write_text("village,ward\n")
    with pytest.raises(SchemaMismatch, match=r"\[#1\].table: villages.csv: expected the columns village,district"):
        dpress.load_spec(tmp_path / "spec.toml")


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ({}, r"\$.constraint\[#1\]: expected one of impossible, holds, determines"),
        ({"impossible": "sex = F", "holds": "sex = M"}, r"\[#1\]: expected one of impossible"),
        ({"impossible": "sex = F", "table": {}}, r"\[#1\].table: expected beside `determines` alone"),
        ({"impossible": "sx = F"}, r"\[#1\].impossible: .*sx"),
        ({"impossible": "sex = F or sex = M"}, r"\$.constraint: together the constraints leave no record possible"),
        ({"holds": "sex = F or sex = M"}, r"\[#1\].holds: .* says nothing: it is so of every record"),
        ({"impossible": "age = 16 and sex = M"}, r"\[#1\].impossible: .*cell"),
        ({"determines": ["village", "sx"]}, r"\[#1\].determines: expected two of the released attributes, age,"),
        ({"determines": ["sex", "district"]}, r"\[#1\].determines: expected a `table` with the district of every sex"),
        (
            {"determines": ["sex", "district"], "table": {"F": "N"}},
            r"which district 'M' of sex has is not in the table",
        ),
        ({"determines": ["sex", "district"], "table": {"F": "X"}}, r"'X' is no value of district"),
    ],
)
def test_a_wrong_constraint_is_refused_in_a_line_with_its_place(constraint, message):
    with pytest.raises(ValueError, match=message) as caught:
        dpress.plan(spec(constraints=[constraint]))
    assert "\n" not in str(caught.value)


def test_constraints_that_contradict_each_other_are_refused_before_the_charge():
    texts = [{"holds": "sex = F"}, {"holds": "pregnant = yes"}, {"impossible": "sex = F and pregnant = yes"}]
    with pytest.raises(ValueError, match=r"\$.constraint: together the constraints leave no record possible"):
        dpress.plan(spec(constraints=texts))


def test_methods_and_kinds_that_keep_none_refuse_them():
    with pytest.raises(NotSupported, match=r"\$.constraint: dp_prototypes with these parameters makes records that no"):
        dpress.plan(spec("dp_prototypes", users=1200, clusters=4, rows="representative"))
    with pytest.raises(NotSupported, match=r"\$.constraint: per_record with these parameters"):
        dpress.plan(spec("per_record", users=1200))
    assert dpress.plan(spec("per_record", CONSTRAINTS[2:], users=1200)).chosen.mechanism.measured == (0, 1, 2, 3)
    plain = {**msgspec.to_builtins(spec()), "release": {"kind": "marginals"}}
    with pytest.raises(NotSupported, match='records keep constraints, kind = "microdata", got "marginals"'):
        dpress.plan(plain)
