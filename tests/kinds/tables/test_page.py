"""The page of tables of counts: those that were published, or the sums that were asked for."""

import pytest
from tests.kinds.conftest import KINDS
from tests.kinds.reading import html_of, text_of

from dpress.kinds.tables.page import at_once, derived_views
from dpress.reporting.facts import facts
from dpress.reporting.rounding import error_up


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
    view = derived_views(own, own.views)[1]
    answer = release.query("age = 3 and sex = Male")
    assert (view.count[3, 1], view.error[3, 1]) == pytest.approx((answer.value, answer.standard_error))


def test_cells_asked_for_are_counted() -> None:
    assert text_of("two-way").count("over the 172 cells asked for") == 2


def test_the_page_says_how_wrong_all_counts_can_be_at_once() -> None:
    release = KINDS["histogram"]()
    found = at_once(facts(release))
    assert found is not None
    shown = text_of("histogram")
    assert f"with probability 95 % every one of the {found.cells} counts is within ± {found.within:g} rows" in shown
    assert "the exact quantile of the largest of so many independent noise values" in shown
    assert f"sensitivity × ln({found.cells} / 0.05) / ε, is {found.textbook:.1f}." in shown
    assert "All at once" not in text_of("local")


def test_sums_and_tables_that_agree_have_a_bound() -> None:
    for kind in ("two-way", "two-way sums"):
        found = at_once(facts(KINDS[kind]()))
        assert found is not None
        assert not found.exact
        assert f"every one of the {found.cells} counts is within ± {error_up(found.within)} rows" in text_of(kind)
        assert "a bound, since these counts share noise" in text_of(kind)
