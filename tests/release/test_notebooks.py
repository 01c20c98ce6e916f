"""What Python and notebooks show: short texts, escaped tables, and the tables of a release by attributes."""

import dataclasses
import datetime as dt
import html
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.kinds.conftest import AGE, KINDS, PEOPLE, SEX, make

from dpress import plan
from dpress.core.basics import notebook, rng
from dpress.data.specification.spec import from_dict
from dpress.query.keyed_tables import KeyedTables
from dpress.query.release import Release
from dpress.query.sql.sql_table import FREE
from dpress.release.curator.publish import publish
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series
from dpress.release.statements.sql_session import Session
from dpress.release.truth.check_text import lines
from dpress.release.truth.data_check import check

HOSTILE = "<script>alert(1)</script>"
LONGEST = 200
REGIONS = 6  # cells of the histogram, one of them for other values


def visible(text: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", text).split()))


@pytest.mark.parametrize("kind", ["two-way sums", "local", "local joint", "map", "ranges", "seeded"])
def test_texts_are_short_and_pieces_of_html_are_whole(kind: str) -> None:
    release = KINDS[kind]()
    planned = plan(from_dict(release.design.specification))
    for own in (release, planned, release.query("total"), release.tables):
        assert len(repr(own)) < LONGEST
        assert "\n" not in repr(own)
    for own in (release, planned, release.query("total"), *release.tables.values()):
        shown: str = own._repr_html_()
        assert shown.count("<table>") == shown.count("</table>") >= 1
        assert shown.count("<td") == shown.count("</td>")


def test_a_plan_says_what_it_chose() -> None:
    spec = from_dict({"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "ranges", "method": "boost"}})
    planned = plan(spec)
    assert repr(planned).startswith("Plan(ranges of age; boost; epsilon = 1; predicted error ")
    assert "privelet" in visible(planned._repr_html_())
    assert "No strategy with this noise has a mean variance below" in visible(planned._repr_html_())


def test_a_statement_of_a_session_says_when_it_is_charged(tmp_path: Path) -> None:
    spec = {"attribute": [AGE], "privacy": {"epsilon": 1}}
    session = Session(spec, pa.table({"age": [1, 2]}), ledger=tmp_path / "budget.sqlite", out=tmp_path / "people")
    proposal = session.propose("select count(*) from people", spend=0.25)
    shown = visible(proposal._repr_html_())
    assert "count +- 5.64 Nothing is charged yet; epsilon = 0.25 is as soon as the session accepts it." in shown
    paid = visible(session.accept(proposal)._repr_html_())
    assert paid.endswith("epsilon = 0.25 was charged for statement 1.")
    assert FREE in visible(session.answer(1)._repr_html_())
    with pytest.raises(ValueError, match=r"it was accepted as statement 1; session\.answer\(1\) shows it"):
        session.accept(proposal)
    for nothing in ("select count(*) from people", None):
        with pytest.raises(ValueError, match=r"expected a proposal, as session\.propose"):
            session.accept(nothing)  # type: ignore[arg-type]
    other = Session(spec, pa.table({"age": [1, 2]}), ledger=tmp_path / "other.sqlite", out=tmp_path / "others")
    with pytest.raises(ValueError, match="the proposal is of another session, which accepts it; propose the statement"):
        other.accept(session.propose("select count(*) from people where age = 1", spend=0.1))
    assert not other.history
    assert other.left.whole["epsilon"] == 1
    assert session.left.whole["epsilon"] == Fraction(3, 4)
    again = visible(session.propose("select count(*) from people")._repr_html_())
    assert again.endswith("Earlier statements answer it for nothing: see `free.table`.")


def test_an_answer_is_rounded_where_it_is_shown_only() -> None:
    result = dataclasses.replace(
        KINDS["ranges"]().query("total"), value=1234.5678, standard_error=3.21, interval=(1228.0, 1241.0)
    )
    assert repr(result) == "Result(total: 1,234.6, standard error 3.2, 95 % interval 1,228.0 to 1,241.0)"
    assert "total 1,234.6 3.2 1,228.0 to 1,241.0" in visible(result._repr_html_())


def test_an_error_that_is_not_known_is_said_so() -> None:
    records = make("microdata", [AGE, SEX], method="graphical")
    result = records.query("sex = Male")
    assert repr(result).endswith(f"standard error not known, 95 % interval not known; {result.note})")
    assert result.note
    assert result.note in visible(result._repr_html_())
    assert "no error is known for it" in visible(result._repr_html_())
    (own,) = records.tables.values()
    assert own.names == ("age", "sex")
    assert own.to_arrow().equals(records.answers.made.table)


def hostile() -> Release:
    attribute: dict[str, Any] = {"kind": "categorical", "name": HOSTILE, "values": [HOSTILE + "a", "b"], "other": "c"}
    spec = from_dict({"attribute": [attribute], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    return publish(spec, pa.table({HOSTILE: ["b"]}), rng=rng.seeded(1))


def test_names_and_values_are_escaped() -> None:
    release = hostile()
    pieces = [release, plan(from_dict(release.design.specification)), release.query("total"), *release.tables.values()]
    shown = "".join(one._repr_html_() for one in pieces)
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_release_from_a_seed_is_said_to_prove_nothing() -> None:
    assert "proven" in visible(KINDS["ranges"]()._repr_html_())
    assert "nothing proven" in visible(KINDS["seeded"]()._repr_html_())


def test_tables_are_found_by_their_attributes_in_any_order() -> None:
    tables = KINDS["two-way sums"]().tables
    assert isinstance(tables, KeyedTables)
    assert list(tables) == [("age", "region", "sex"), ("age", "region"), ("age", "sex"), ("region", "sex")]
    assert tables["sex", "age"] is tables["age", "sex"]
    assert KINDS["local"]().tables["sex"].names == ("sex",)
    for missing in ("sex", ("age", "other"), ("age", "age", "sex"), ()):
        with pytest.raises(KeyError, match="there are age x region x sex, age x region, age x sex, region x sex"):
            tables[missing]


def test_tables_become_frames_of_pandas_and_polars() -> None:
    release = KINDS["two-way"]()
    own = release.tables["age", "sex"]
    expected = own.to_arrow()
    assert expected.equals(release.answers.all_tables["age-sex.parquet"])
    assert own.to_pandas()["count"].tolist() == own.to_polars()["count"].to_list() == expected["count"].to_pylist()
    assert list(own.to_pandas().columns) == own.to_polars().columns == expected.column_names


def test_many_rows_are_counted_and_not_shown() -> None:
    assert "and 30 more rows" in visible(KINDS["two-way"]().tables["age", "sex"]._repr_html_())
    assert "more rows" not in visible(make("histogram", [SEX], data=PEOPLE).tables["sex"]._repr_html_())


def test_a_key_may_be_one_text_and_a_query_a_key() -> None:
    release = KINDS["two-way sums"]()
    names = next(one for one in release.tables if len(one) == 2)
    assert release.tables[" x ".join(reversed(names))] is release.tables[names]
    with pytest.raises(KeyError, match="no table of age x nothing"):
        release.tables["age x nothing"]
    assert release["total"] == release.query("total")
    with pytest.raises(TypeError, match="not iterable"):
        iter(release)


def test_figures_are_of_what_is_shown_and_hide_no_row() -> None:
    release = KINDS["histogram"]()
    shown = release._repr_html_()
    assert shown.count("<rect") == REGIONS
    assert shown.count("<path") == REGIONS
    assert notebook.bars([]) == notebook.bars([notebook.Bar("none", 0.0, 0.0, 0.0)]) == ""
    assert HOSTILE not in notebook.bars([notebook.Bar(HOSTILE, 1.0, 0.5, 1.5)])
    (bar,) = re.findall(r'width="([0-9.]+)" height="14"', notebook.bars([notebook.Bar("half", 5.0, 0.0, 10.0)]))
    assert float(bar) == pytest.approx((notebook.WIDTH - notebook.LABEL - 10) / 2)


def test_a_specification_shows_itself_as_the_file_that_it_could_be() -> None:
    plain = {
        "attribute": [{"kind": "date", "name": "day", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}],
        "privacy": {"epsilon": 1},
        "release": {"kind": "histogram", "title": HOSTILE},
        "periods": {"attribute": "day"},
    }
    spec = from_dict(plain)
    assert repr(spec) == "Spec(histogram of day; central; epsilon = 1)"
    shown = spec._repr_html_()
    assert "<script>" not in shown
    assert from_dict(tomllib.loads(html.unescape(shown.removeprefix("<pre>").removesuffix("</pre>")))).hash == spec.hash


def test_a_check_shows_what_the_command_says_and_that_it_is_not_private() -> None:
    spec = from_dict({"attribute": [AGE], "privacy": {"epsilon": 1}, "release": {"kind": "histogram"}})
    report = check(spec, pa.table({"age": [3, 4, 1_000]}))
    assert repr(report).endswith("; something looks like a mistake; not private)")
    shown = visible(report._repr_html_())
    assert shown.startswith("Exact, so not private")
    assert all(" ".join(line.split()) in shown for line in lines(report))


def test_a_session_shows_its_statements_and_what_is_left(tmp_path: Path) -> None:
    ward = {"name": "ward", "kind": "categorical", "values": ["eyes", "ear"]}
    spec, rows = {"attribute": [ward], "privacy": {"epsilon": 1}}, pa.table({"ward": ["eyes"] * 30})
    session = Session(spec, rows, ledger=tmp_path / "budget.sqlite", out=tmp_path / "visits")
    session.accept(session.propose("select count(*) from visits where ward = 'eyes'", spend=0.25))
    shown = session._repr_html_()
    assert "select count(*) from visits where ward = &#x27;eyes&#x27;" in shown
    assert "epsilon = 0.25" in shown
    assert "epsilon = 0.75 is left" in shown


def test_a_series_shows_its_periods(tmp_path: Path) -> None:
    day = {"kind": "date", "name": "day", "bounds": ["2024-01-01", "2024-02-29"], "cells": "month"}
    plain = {"privacy": {"epsilon": 1}, "periods": {"attribute": "day"}, "release": {"kind": "histogram"}}
    rows = pa.table({"day": [dt.date(2024, 1, 9)]})
    publish_period(from_dict({"attribute": [day], **plain}), "2024-01", rows, out=tmp_path / "visits")
    series = load_series(tmp_path / "visits")
    assert repr(series).endswith(": 1 of 2 periods)")
    assert "2024-01 histogram identity epsilon = 1" in visible(series._repr_html_())
