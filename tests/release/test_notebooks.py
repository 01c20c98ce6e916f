"""What Python and notebooks show: short texts, escaped tables, and the tables of a release by attributes."""

import dataclasses
import html
import re
from typing import Any

import pyarrow as pa
import pytest
from tests.kinds.conftest import AGE, KINDS, PEOPLE, SEX, make

from dpress import plan
from dpress.core.basics import rng
from dpress.data.specification.spec import from_dict
from dpress.query import notebook
from dpress.query.keyed_tables import KeyedTables
from dpress.query.release import Release
from dpress.release.curator.publish import publish

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


def test_an_answer_is_rounded_where_it_is_shown_only() -> None:
    result = dataclasses.replace(
        KINDS["ranges"]().query("total"), value=1234.5678, standard_error=3.21, interval=(1228.0, 1241.0)
    )
    assert repr(result) == "Result(total: 1,234.6, standard error 3.2, 95 % interval 1,228.0 to 1,241.0)"
    assert "total 1,234.6 3.2 1,228.0 to 1,241.0" in visible(result._repr_html_())


def test_an_error_that_is_not_known_is_said_so() -> None:
    records = make("microdata", [AGE, SEX], method="graphical")
    result = records.query("sex = Male")
    assert repr(result).endswith("standard error not known, 95 % interval not known)")
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
    assert expected.equals(release.answers.all_tables["table_2.parquet"])
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
