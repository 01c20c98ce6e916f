"""The page of tables of counts: those that were published, or the sums that were asked for."""

import pytest
from tests.kinds.conftest import KINDS
from tests.kinds.reading import html_of, text_of

from dpress.kinds.tables.page import asked
from dpress.report.facts import facts


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("histogram", "Counts by region"),
        ("two-way", "Tables of counts by age, region and sex"),
        ("local", "Counts by age, by region and by sex"),
        ("local of one", "Counts by region"),
    ],
)
def test_titles(kind: str, title: str) -> None:
    assert f"<h1> {title} </h1>" in " ".join(html_of(kind).replace("h1>", "h1> ").replace("</h1", " </h1").split())


def test_sums_are_said_to_be_sums() -> None:
    shown = text_of("two-way sums")
    assert "It was cheaper to publish one larger table, age × region × sex, and to add up its cells" in shown
    assert "It was cheaper" not in text_of("two-way")


def test_a_sum_is_what_the_release_answers() -> None:
    release = KINDS["two-way sums"]()
    own = facts(release)
    view = asked(own, own.views)[1]
    answer = release.query("age = 3 and sex = Male")
    assert (view.count[3, 1], view.error[3, 1]) == pytest.approx((answer.value, answer.standard_error))


def test_cells_asked_for_are_counted() -> None:
    assert text_of("two-way").count("over the 172 cells asked for") == 2
