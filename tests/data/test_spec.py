import copy
import re
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

import dpress
from dpress.core.basics.claim import Relation
from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.data.specification.spec import as_dict, from_dict, load_spec
from dpress.document import design

PLAIN = {
    "attribute": [
        {"name": "age", "kind": "integer", "bounds": [17, 90]},
        {"name": "work", "kind": "categorical", "values": ["a", "b"], "other": "else"},
    ],
    "privacy": {"epsilon": 0.1},
    "release": {"kind": "ranges", "attributes": ["age"]},
}


def changed(*path, value):
    plain = copy.deepcopy(PLAIN)
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return plain


def test_a_spec_survives_its_plain_form_and_keeps_its_hash():
    spec = from_dict(PLAIN)
    assert from_dict(as_dict(spec)) == spec
    assert from_dict(as_dict(spec)).hash == spec.hash
    assert from_dict(changed("data", value={"source": "x.csv"})).hash == spec.hash
    assert from_dict(changed("privacy", "epsilon", value=0.2)).hash != spec.hash


def test_postprocessing_is_part_of_the_hash_and_a_spec_without_it_keeps_its_own():
    spec = from_dict(changed("release", "postprocess", value=["nonnegative", "integer"]))
    assert spec.release.postprocess == ("nonnegative", "integer")
    assert from_dict(as_dict(spec)) == spec
    assert spec.hash != from_dict(PLAIN).hash
    assert from_dict(changed("release", "postprocess", value=["integer", "nonnegative"])).hash != spec.hash
    assert from_dict(changed("release", "postprocess", value=[])).hash != from_dict(PLAIN).hash  # answers are unbiased
    assert "postprocess" not in as_dict(from_dict(PLAIN))["release"]


def test_losses_are_exact_rationals():
    assert from_dict(PLAIN).privacy.loss == PureDP(epsilon=Fraction(1, 10))
    assert from_dict(changed("privacy", value={"rho": 0.5})).privacy.loss == ZCDP(rho=Fraction(1, 2))
    both = from_dict(changed("privacy", value={"epsilon": 1, "delta": 1e-6})).privacy.loss
    assert both == ApproxDP(epsilon=1, delta=Fraction(1, 10**6))


def test_the_schema_has_the_released_attributes_in_the_release_order():
    assert from_dict(changed("release", "attributes", value=["work", "age"])).schema.names == ("work", "age")
    assert from_dict(changed("release", value={"kind": "marginals"})).schema.shape == (74, 3)


def test_a_person_is_the_unit_where_a_column_names_it():
    privacy = {"epsilon": 1, "unit": "uid", "rows_per_unit": 3, "relation": "replace-one"}
    unit = from_dict(changed("privacy", value=privacy)).privacy.protected
    assert (unit.column, unit.rows, unit.relation) == ("uid", 3, Relation.REPLACE_ONE)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (changed("privacy", "epsilon", value=-1), "$.privacy.epsilon: expected a number > 0, got -1"),
        (changed("privacy", "epsilon", value=0), "$.privacy.epsilon: expected a number > 0, got 0"),
        (changed("privacy", "epsilon", value=float("nan")), "$.privacy.epsilon: expected a number > 0, got nan"),
        (
            changed("privacy", "epsilon", value=float("inf")),
            "$.privacy.epsilon: expected a number between 1e-9 and 1000, got inf",
        ),
        (
            changed("privacy", "epsilon", value=1e-320),
            "$.privacy.epsilon: expected a number between 1e-9 and 1000, got 9.99989e-321",
        ),
        (changed("privacy", "epsilon", value="1"), "$.privacy.epsilon: expected a number, got '1'"),
        (changed("privacy", "delta", value=2), "$.privacy.delta: expected a number between 0 and 1, got 2"),
        (
            changed("privacy", value={"epsilon": 1, "rho": 1}),
            "$.privacy: expected epsilon, or rho, or epsilon and delta, got epsilon and rho",
        ),
        (changed("privacy", value={}), "$.privacy: expected epsilon, or rho, or epsilon and delta, got none of them"),
        (
            changed("privacy", "budget", value=1),
            (
                "$.privacy: unknown field `budget`; "
                "the fields are model, unit, rows_per_unit, relation, epsilon, rho, delta"
            ),
        ),
        (
            changed("relese", value=1),
            (
                "$: unknown field `relese`; the fields are data, attribute, privacy, release, collection, periods, "
                "constraint, table; did you mean 'release'?"
            ),
        ),
        (
            changed("attribute", 0, "bins_", value=1),
            (
                "$.attribute[age]: unknown field `bins_`; the fields are "
                "kind, name, title, unit, column, outside, null, bounds, bins; did you mean 'bins'?"
            ),
        ),
        (
            changed("attribute", 0, "kind", value="number"),
            (
                "$.attribute[age].kind: expected one of categorical, ordinal, integer, numeric, date, datetime, "
                "location, hierarchy, got 'number'; did you mean 'numeric'?"
            ),
        ),
        (
            changed("attribute", 0, "bounds", value=[0, "x"]),
            "$.attribute[age].bounds[#2]: expected an integer, got 'x'",
        ),
        (
            changed("attribute", 0, "bounds", value=[9, 1]),
            "$.attribute[age]: `bounds` are [low, high], -2^53 < low <= high < 2^53, got [9, 1]",
        ),
        (
            changed("attribute", 0, "outside", value="ignore"),
            "$.attribute[age].outside: expected clamp, drop or reject, got 'ignore'",
        ),
        (
            changed("release", "attributes", value=["nope"]),
            "$.release.attributes: there is no attribute 'nope'; the attributes are age, work",
        ),
        (
            changed("release", "postprocess", value=["nonnegative", "round"]),
            (
                "$.release.postprocess[#2]: expected one of base_cut, consistent, integer, monotone_prefix, "
                "nonnegative, norm_sub, posterior, simplex, top_down, got 'round'"
            ),
        ),
        (
            changed("release", "postprocess", value="integer"),
            "$.release.postprocess: expected a list such as [\"integer\"], got 'integer'",
        ),
        (
            changed("release", "postprocess", value=["integer", "integer"]),
            "$.release.postprocess[#2]: 'integer' is named twice",
        ),
        (
            changed("release", value={"kind": "marginals", "postprocess": ["monotone_prefix"]}),
            (
                "$.release.postprocess: monotone_prefix needs exactly one integer, numeric, date or ordinal attribute, "
                "got age, work"
            ),
        ),
        (changed("privacy", "relation", value="x"), "$.privacy.relation: expected add-remove or replace-one, got 'x'"),
    ],
)
def test_a_fault_names_its_place_and_what_would_be_right(plain, message):
    with pytest.raises(SchemaMismatch) as caught:
        from_dict(plain)
    assert str(caught.value) == message


def test_files_are_found_beside_the_spec(tmp_path):
    (tmp_path / "groups.csv").write_text("value,level1\na,vowel\nb,consonant\n")
    (tmp_path / "spec.toml").write_text(
        '[data]\nsource = "rows.csv"\n[[attribute]]\nname = "work"\nkind = "categorical"\nvalues = ["a", "b"]\n'
        'hierarchy = "groups.csv"\n[privacy]\nepsilon = 1\n[release]\nkind = "histogram"\n'
    )
    spec = load_spec(tmp_path / "spec.toml")
    assert spec.data.source == str(tmp_path / "rows.csv")
    assert spec.attribute[0].groups == {"vowel": (0,), "consonant": (1,)}
    (tmp_path / "groups.csv").write_text("value,level1\na,vowel\n")
    with pytest.raises(SchemaMismatch, match="no row for the value 'b' of work"):
        load_spec(tmp_path / "spec.toml")


def test_a_hierarchy_may_be_as_arx_writes_it_and_a_bad_one_is_refused_by_its_name(tmp_path):
    (tmp_path / "spec.toml").write_text(
        '[[attribute]]\nname = "work"\nkind = "ordinal"\nvalues = [1, 2, 3]\nother = "else"\n'
        'hierarchy = "groups.csv"\n[privacy]\nepsilon = 1\n[release]\nkind = "histogram"\n'
    )
    (tmp_path / "groups.csv").write_text("1;low;*\n2;low;*\n3;high;*\n4;high;*\n")
    assert load_spec(tmp_path / "spec.toml").attribute[0].groups == {"low": (0, 1), "high": (2,), "*": (0, 1, 2)}
    (tmp_path / "groups.csv").write_text("1;low;*\n2;low;all\n3;high;*\n")
    with pytest.raises(SchemaMismatch) as caught:
        load_spec(tmp_path / "spec.toml")
    assert str(caught.value) == (
        f"{tmp_path / 'spec.toml'}: groups.csv: the level 1 label 'low' lies in both '*' and 'all' of level 2"
    )


def test_a_design_in_the_place_of_a_specification_is_named(tmp_path):
    (tmp_path / "design.json").write_text('{\n "format": 1\n}\n')
    with pytest.raises(SchemaMismatch, match=r"design\.json: a JSON object, as a design is; expected a specification"):
        load_spec(tmp_path / "design.json")


def test_a_file_that_is_no_toml_is_refused_with_its_place(tmp_path):
    (tmp_path / "spec.toml").write_text("[privacy\n")
    with pytest.raises(SchemaMismatch, match=r"not a TOML file: .*line 1"):
        load_spec(tmp_path / "spec.toml")


def test_a_specification_is_a_file_a_text_or_plain_objects(tmp_path: Path) -> None:
    text = '[[attribute]]\nname = "age"\nkind = "integer"\nbounds = [0, 9]\n[privacy]\nepsilon = 1\n'
    text += '[release]\nkind = "histogram"\n'
    (tmp_path / "spec.toml").write_text(text)
    found = load_spec(tmp_path / "spec.toml")
    assert found == load_spec(str(tmp_path / "spec.toml")) == load_spec(text) == load_spec(as_dict(found))
    with pytest.raises(SchemaMismatch, match="the specification: not a TOML file"):
        load_spec("a = \n b")
    with pytest.raises(SchemaMismatch, match=r"\$\.privacy\.epsilon: expected a number > 0, got -1"):
        load_spec(text.replace("epsilon = 1", "epsilon = -1"))


ENDS = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]
[privacy]
model = "local"
epsilon = 1.0
[release]
kind = "histogram"
[collection]
ends = [2027-01-01T01:00:00+01:00, 2027-01-02T00:00:00.5Z]
"""


def test_the_ends_of_rounds_are_times_in_utc_and_survive_the_plain_form():
    spec = load_spec(ENDS)
    assert spec.ends == ("2027-01-01T00:00:00Z", "2027-01-02T00:00:00.500000Z")
    assert from_dict(as_dict(spec)) == spec


def test_the_ends_of_rounds_change_the_design_and_not_its_id():
    with_ends, without = (dpress.plan(load_spec(text)).design for text in (ENDS, ENDS.partition("[collection]")[0]))
    assert with_ends.id == without.id
    assert without.ends is msgspec.UNSET
    assert design.decode(design.encode(with_ends)) == with_ends
    assert "ends" not in design.as_plain(without)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("2027-01-02T00:00:00.5Z", "2026-01-02T00:00:00Z", "later than the one before"),
        ("2027-01-02T00:00:00.5Z", "2027-01-02", "expected a time with its zone, such as 2026-12-31T18:00:00Z"),
        ("2027-01-02T00:00:00.5Z", "2027-01-02T00:00:00", "$.collection.ends"),
        ('model = "local"', 'model = "central"', "$.collection: a table is not collected"),
    ],
)
def test_times_that_cannot_be_are_refused(old, new, found):
    with pytest.raises(SchemaMismatch, match=re.escape(found)):
        load_spec(ENDS.replace(old, new))
