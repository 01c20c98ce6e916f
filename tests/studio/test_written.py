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
from dpress.studio import faults, written
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
        ({"unit": ""}, "say whom you protect, a row or a person; there is no default"),
        ({"unit": "person"}, "choose the column that says whose row it is"),
        ({"epsilon": "much"}, "$.privacy.epsilon: expected a number"),
        ({"epsilon": "-1"}, "$.privacy.epsilon: expected a number > 0, got -1"),
        ({"epsilon": "0"}, "$.privacy.epsilon: nothing of the budget is left for this wish"),
        ({"epsilon": ""}, "state the budget of all wishes, such as 1"),
        ({"columns": []}, "look at the columns, and use at least one"),
        ({"columns": [Column(name="a", use=True, kind="integer", low="0")]}, "type a bound that nobody is above"),
        ({"columns": [Column(name="a", use=True, kind="integer", low="x", high="9")]}, "$.attribute[a].bounds"),
        ({"columns": [Column(name="a", use=True)]}, "choose what it is"),
        ({"columns": [Column(name="a", use=True, kind="categorical")]}, "list its values"),
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


TEXTS = [field for field in Column.__struct_fields__ if field not in ("name", "use", "kind")]


@given(st.fixed_dictionaries(dict.fromkeys(TEXTS, typed)), typed, typed, typed)
def test_whatever_is_typed_is_a_spec_or_refused(own, budget, more, name):
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
    with pytest.raises(SchemaMismatch, match=r"there is no file none\.csv"):
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


def test_lines_that_are_no_rows_and_another_name_are_stated(session, tmp_path):
    text = "Visits of 2024\nAGE_YRS;PLACE\n30;x\n31;y\nSource: the town\n"
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    session.keep(Draft(source=str(tmp_path / "rows.csv"), names_in_first_line=True, footer="0", unit="row"))
    kept = session.propose()
    assert (kept.separator, kept.encoding, kept.skip, kept.header_rows, kept.footer) == (";", "utf-8", "1", "", "0")
    session.keep(replace(kept, footer="1"))
    age, _ = session.look().columns
    age = replace(age, use=True, kind="integer", low="0", high="99", called="age")
    session.keep(replace(session.draft, columns=[age], wishes=[Wish(name="ages")]))
    spec = session.write("ages")
    assert (spec.attribute[0].name, spec.attribute[0].column) == ("age", "AGE_YRS")
    assert (spec.data.skip, spec.data.footer, dpress.check(spec).kept) == (1, 1, 2)


def test_only_rows_of_a_public_condition_are_published(session, tmp_path):
    (tmp_path / "rows.csv").write_text("age,year\n30,2024\n31,2023\n32,2024\n", encoding="utf-8")
    session.keep(Draft(source=str(tmp_path / "rows.csv"), names_in_first_line=True, unit="row", where="year = 2024"))
    age, _ = session.look().columns
    age = replace(age, use=True, kind="integer", low="0", high="99")
    session.keep(replace(session.draft, columns=[age], wishes=[Wish(name="ages")]))
    assert (session.write("ages").where, dpress.check(session.write("ages")).kept) == ("year = 2024", 2)
    session.keep(replace(session.draft, where="year > many"))
    with pytest.raises(ValueError, match=r"\$\.data\.where: year is ordered by numbers") as refused:
        dpress.plan(session.spec("ages"))
    assert faults.of_refusal(str(refused.value), session.draft).at == "where"
    session.keep(replace(session.draft, where="years = 2024"))
    with pytest.raises(dpress.SchemaMismatch, match="no column 'years'") as absent:
        dpress.check(session.write("ages"))
    assert faults.of_refusal(str(absent.value), session.draft).at == "where"
    session.keep(replace(session.draft, unit="person", person="uid", where=""))
    with pytest.raises(dpress.SchemaMismatch, match="no column 'uid'") as absent:
        dpress.check(session.write("ages"))
    assert faults.of_refusal(str(absent.value), session.draft).at == "person"
    session.keep(replace(session.draft, unit="row", where="year = 2024", relation="replace-one"))
    assert [fault.at for fault in session.wishes[0]["faults"]] == ["where"]


def test_titles_and_units_are_stated_where_numbers_are(session):
    age, sex = session.draft.columns[1:3]
    age = replace(age, title="Age", measure="years")
    session.keep(replace(session.draft, columns=[age, replace(sex, measure="years")]))
    stated = session.spec("marginals-1").attribute
    assert [(one.title or "", one.unit or "") for one in stated] == [("Age", "years"), ("", "")]


def test_lines_of_a_sheet_are_stated_and_its_text_is_not_looked_at(session):
    session.keep(Draft(source="book.xlsx#Visits", skip="2", header_rows="2", footer="1", separator=";"))
    stated = {name: value for name, value in written.data_of(session.draft).items() if value is not None}
    assert stated == {"source": "book.xlsx#Visits", "skip": 2, "header_rows": 2, "footer": 1}


def test_lines_of_a_sheet_that_look_like_no_rows_are_proposed(session, tmp_path):
    lines = (["Visits of 2024"], [], ["age", "place"], [30, "x"], [31, "y"], ["Source: the town"])
    with pytest.importorskip("xlsxwriter").Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet("Visits")
        for place, line in enumerate(lines):
            sheet.write_row(place, 0, line)
    session.keep(Draft(source=str(tmp_path / "book.xlsx")))
    kept = session.propose()
    assert (kept.skip, kept.header_rows, kept.footer, kept.separator, kept.encoding) == ("2", "", "1", "", "")
    assert [one.name for one in session.look().columns] == ["age", "place"]
    session.keep(Draft(source="rows.parquet"))
    with pytest.raises(ValueError, match="expected a file of text or a sheet"):
        session.propose()


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
