"""What was typed as specifications: the same as a file of one's own, refused in the words that every spec is."""

from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpress
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.sources.open_source import open_source
from dpress.data.specification.spec import load_spec
from dpress.studio import written
from dpress.studio.draft import Column, Draft, Wish, column

WRITTEN = """
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 99]
bins = 10
[[attribute]]
name = "sex"
kind = "categorical"
values = ["f", "m"]
labels = { f = "female", m = "male" }
other = "unknown"
[[attribute]]
name = "pet"
kind = "categorical"
values = ["cat", "dog"]
other = "another"
[privacy]
epsilon = 1
[release]
kind = "marginals"
parameters = { ways = 1 }
"""
typed = st.text(max_size=12)


def replace(draft, **changes):
    return msgspec.structs.replace(draft, **changes)


def test_it_plans_to_the_design_of_a_spec_that_somebody_wrote(session):
    own, file = session.spec("marginals-1"), session.write("marginals-1")
    assert own.hash == file.hash == load_spec(WRITTEN).hash
    assert dpress.plan(file).design.id == dpress.plan(load_spec(WRITTEN)).design.id
    assert Path(file.data.source).samefile(session.draft.source)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"unit": ""}, "$.privacy.unit: say whom you protect, a row or a person; there is no default"),
        ({"unit": "person"}, "$.privacy.unit: choose the column that says whose row it is"),
        ({"epsilon": "much"}, "$.privacy.epsilon: expected a number"),
        ({"epsilon": "-1"}, "$.privacy.epsilon: expected a number > 0, got -1"),
        ({"epsilon": "0"}, "$.privacy.epsilon: nothing of the budget is left for this wish"),
        ({"epsilon": ""}, "expected epsilon, or rho, or epsilon and delta"),
        ({"columns": []}, "$.attribute: look at the columns, and use at least one"),
        ({"columns": [Column(name="a", use=True, kind="integer", low="0")]}, "$.attribute[a].bounds"),
        ({"columns": [Column(name="a", use=True, kind="integer", low="x", high="9")]}, "$.attribute[a].bounds"),
        ({"columns": [Column(name="a", use=True)]}, "$.attribute[a]"),
        ({"columns": [Column(name="a", use=True, kind="categorical")]}, "$.attribute[a]"),
        ({"wishes": [Wish(name="marginals-1", more="x = ")]}, "no lines of TOML"),
        ({"wishes": [Wish(name="marginals-1", kind="pie")]}, "$.release.kind"),
    ],
)
def test_what_is_missing_or_wrong_is_named(session, changes, line):
    session.keep(replace(session.draft, **changes))
    (state,) = session.wishes
    if not state["fault"]:  # of the kind, which the plan refuses
        with pytest.raises(ValueError, match="kind") as refused:
            dpress.plan(session.spec("marginals-1"))
        state["fault"] = str(refused.value)
    assert line in state["fault"]
    assert "(at line" not in state["fault"]


@given(st.lists(typed, min_size=15, max_size=15), typed, typed, typed)
def test_whatever_is_typed_is_a_spec_or_refused(texts, budget, more, name):
    fields = [one for one in Column.__struct_fields__ if one not in ("name", "use", "kind")]
    own = dict(zip(fields, texts, strict=True))
    for kind in ("categorical", "integer", "numeric", "date", "datetime", "location", name):
        draft = Draft(columns=[Column(name=name, use=True, kind=kind, **own)], unit="row", epsilon=budget, users=budget)
        wish = Wish(name="one", kind="statistics", more=more)
        try:
            assert load_spec(written.specification(draft, wish, {"epsilon": budget})).attribute
        except SchemaMismatch:
            continue


@given(st.lists(st.one_of(st.just(""), st.decimals("0.01", "0.2", places=2).map(str)), min_size=1, max_size=5))
def test_parts_never_add_up_to_more_than_the_whole(stated):
    parts = [Fraction(written.part("1", own, stated)) for own in stated]
    assert sum(parts) <= 1
    if "" in stated:
        assert sum(parts) > Fraction("0.9999")


def test_parts_by_hand():
    assert written.part("1", "", ["", ""]) == "0.5"
    assert written.part("1", "", ["", "", ""]) == "0.333333"
    assert written.part("1", "0.3", ["0.3", ""]) == "0.3"
    assert written.part("1", "", ["0.3", ""]) == "0.7"
    assert written.part("1", "", ["1", ""]) == "0"
    assert written.part("12", "", [""]) == "12"
    assert written.part("1e-6", "", ["", ""]) == "0.0000005"
    assert written.part("much", "", [""]) == "much"


def test_a_column_of_codes_with_levels_becomes_regions_that_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracts.csv").write_text("county,tract\n1,11\n1,12\n2,21\n", encoding="utf-8")
    codes = Column(name="tract", use=True, kind="hierarchy", levels="county, tract", tree="tracts.csv")
    sex = Column(name="sex", use=True, kind="categorical", values="f\nm")
    draft = Draft(columns=[codes, sex], unit="row", users="500")
    wish = Wish(name="places", kind="regions", more="records = true")
    spec = load_spec(written.specification(draft, wish, {"epsilon": "1"}))
    assert written.names_of(draft) == ["tract_code", "sex"]
    assert list(dpress.plan(spec).design.schema.names) == ["tract_code", "sex"]
    (tmp_path / "tracts.csv").unlink()
    missing = replace(draft, columns=[replace(codes, tree="none.csv"), sex])
    with pytest.raises(OSError, match=r"none\.csv"):
        load_spec(written.specification(missing, wish, {"epsilon": "1"}))


def test_columns_keep_what_was_typed_when_they_are_looked_at_again(session):
    session.look()
    assert [one.name for one in session.draft.columns] == ["uid", "age", "sex", "pet"]
    assert session.draft.columns[1].high == "99"


def test_a_text_file_needs_somebody_to_say_that_its_first_line_has_names(session, tmp_path):
    (tmp_path / "rows.csv").write_text("a;b\n1;2\n", encoding="utf-8")
    session.keep(Draft(source=str(tmp_path / "rows.csv"), separator=";"))
    with pytest.raises(ValueError, match=r"\$.data.header: say that the first line"):
        session.look()
    session.keep(replace(session.draft, names_in_first_line=True))
    assert [one.name for one in session.look().columns] == ["a", "b"]


def test_values_come_from_a_codebook(session, tmp_path):
    book = tmp_path / "book.csv"
    book.write_text("column,value,label\nsex,9,other\nuid,1,yes\nuid,2,\n", encoding="utf-8")
    session.codebook(str(book))
    uid, _, sex, _ = session.draft.columns
    assert (uid.kind, uid.values) == ("categorical", "1 = yes\n2")
    assert sex.values.startswith("f = female")  # what was typed stays
    book.write_text("value,label\n1,yes\n", encoding="utf-8")
    with pytest.raises(SchemaMismatch, match="expected a codebook, a CSV with the header column,value,label"):
        session.codebook(str(book))


def test_values_come_from_the_dictionary_of_a_statistics_package(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra [survey]")
    pd = pytest.importorskip("pandas")
    path = tmp_path / "rows.sav"
    labels = {"smoker": {0.0: "never", 1.0: "daily", 2.0: "nobody says this"}}
    frame = pd.DataFrame({"smoker": [0.0, 1.0], "size": [1.5, 2.5]})
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, column_labels=["Smokes", ""])
    found = [(one.name, one.kind, one.values, one.title) for one in map(column, open_source(path).source.declared())]
    smoker = ("smoker", "categorical", "never\ndaily\nnobody says this", "Smokes")
    assert found == [smoker, ("size", "numeric", "", "")]
