"""The page of one period of a series: it names its month in words, once, and its groups by what tells them apart."""

import re

import pytest
from msgspec.structs import replace
from tests.kinds.reading import text
from tests.reporting.few_months import COST, RISING, SEX, STATISTICS, WARD, series_of, spec

from dpress.reporting.page import page
from dpress.reporting.rounding import stated
from dpress.reporting.series_page import series_page


def month_of(folder, plan, place=1):
    """Return the page of one month."""
    series = series_of(folder, plan, RISING)
    return page(series.releases[series.spans[place]])


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("statistics", STATISTICS), ("histogram", {}), ("marginals", {"ways": 2})],
)
def test_a_months_page_names_its_month_in_words_and_its_days_nowhere_else(tmp_path, kind, parameters):
    html = month_of(tmp_path / "out", spec([WARD, SEX, *[COST] * (kind == "statistics")], 3, kind, parameters))
    (heading,), (title,) = (re.findall(f"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL) for tag in ("h1", "title"))
    assert " ".join(heading.split()).endswith(", February 2024")
    assert " ".join(title.split()).endswith(", February 2024")
    assert "2024-02-01..2024-02-29" not in text(html)
    results = text(html[: html.index("<caption>How values are counted")])
    assert "Day of the visit" not in results
    assert "hearts" in results  # groups of more than one cell are still there


def test_a_title_that_names_the_month_is_left_as_it_is(tmp_path):
    plan = spec([WARD])
    named = replace(plan, release=replace(plan.release, title="Visits in February 2024"))
    for place, heading in ((1, "Visits in February 2024"), (0, "Visits in February 2024, January 2024")):
        html = month_of(tmp_path / f"out{place}", named, place)
        assert f"<h1>{heading}</h1>" in html


def test_a_series_and_the_page_of_its_month_state_one_interval_of_a_mean_and_no_digit_beyond_its_error(tmp_path):
    parameters = {"by": ["ward"], "mean": ["cost"]}
    series = series_of(tmp_path / "out", spec([WARD, COST], 3, "statistics", parameters, epsilon=1.0), RISING)
    release = series.releases[series.spans[-1]]
    for query, name in (("mean cost", "mean"), ("sum cost", "sum")):
        exact = release.query(query)
        value, interval, error = stated(exact.value, exact.interval, exact.standard_error)
        month, months = text(page(release)), text(series_page(series))
        assert f"{name} of Cost of a visit {value} EUR {interval} EUR {error} EUR" in month
        assert f"The {name} of Cost of a visit in 2024-03 is {value} EUR ({interval})" in months
        assert f"{exact.value:,.0f}" not in month or name == "mean"  # a sum of thousands with an error of hundreds
    opening = f"The mean of Cost of a visit is {stated(*_of(release.query('mean cost')))[0]} EUR"
    assert opening in month


def _of(result):
    return result.value, result.interval, result.standard_error
