"""The question box of a series: what it answers is what the command answers, and else it says which command does."""

import re

import pytest
from tests.reporting.few_months import COST, RISING, SEX, STATISTICS, WARD, series_of, spec

from dpress.reporting.series_page import write_series_page

pytestmark = pytest.mark.slow
COUNTS = (
    "total",
    "count by visited",
    "count by ward",
    "count by visited, sex",
    "visited = 2024-03",
    "ward = eyes and visited = 2024-03",
    "visited in 2024-01..2024-02 and sex = f",
    "count visited = 2024-03 - count visited = 2024-02",
    "count visited = 2024-03 - count visited = 2024-01 where ward = hearts",
    "count visited in 2024-02..2024-03 - count visited = 2024-01",
)
ALONE = (
    "share ward = eyes",
    "share ward = eyes where sex = f",
    "ratio ward = eyes / ward = hearts",
    "count ward = eyes - count ward = hearts",
    "share ward = eyes by sex",
    "count visited = 2024-03 and ward = eyes - count visited = 2024-02 and ward = bones",
)
STATED = (
    "mean cost",
    "mean cost where ward = hearts",
    "mean cost by ward",
    "sum cost by ward",
    "share sex = m where ward = eyes",
    "count by ward",
    "ward = eyes",
    "total",
)
WEAK = {"epsilon": 0.2}


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """Return series by their name, each with its page."""
    folder = tmp_path_factory.mktemp("asked")
    made = {
        "separate": spec([WARD, SEX], **WEAK),
        "tree": spec([WARD, SEX], counter="tree", **WEAK),
        "smooth": spec([WARD, SEX], counter="smooth", **WEAK),
        "tables": spec([WARD, SEX], kind="marginals", parameters={"ways": 2}, **WEAK),
        "statistics": spec([WARD, SEX, COST], kind="statistics", parameters=STATISTICS),
    }
    found = {name: series_of(folder / name, plan, RISING) for name, plan in made.items()}
    for each in found.values():
        write_series_page(each, each.folder / "report.html")
    return found


def numbers(line):
    """Return value, ends of the interval and error of a line, each with the half of its last digit."""
    told = re.sub("[^:]*: ", "", line, count=line.count(": ")).replace("95 % interval", "")
    texts = [text.replace("\u2212", "-").replace(",", "") for text in re.findall("\u2212?\\d[\\d,]*(?:\\.\\d+)?", told)]
    return [(float(text), 10.0 ** -len(text.partition(".")[2])) for text in texts]


def ask(page, query):
    page.locator("#query").fill(query)
    return [line for line in page.locator(".ask .answer").inner_text().splitlines() if line]


@pytest.mark.parametrize(
    ("name", "queries"),
    [("separate", COUNTS + ALONE), ("tree", COUNTS), ("smooth", COUNTS)],
)
def test_the_page_answers_as_the_command_does(open_page, series, name, queries):
    own = series[name]
    page = open_page((own.folder / "report.html").as_uri())
    for query in queries:
        results = own.results(query)
        lines = ask(page, query)
        assert len(lines) == len(results), (query, lines)
        for line, result in zip(lines, results, strict=True):
            exact = (result.value, *result.interval, result.standard_error)
            told = numbers(line)
            assert len(told) == 4, line
            for (shown, digit), number in zip(told, exact, strict=True):
                assert abs(shown - number) <= max(digit, abs(number) * 0.02, result.standard_error / 3), (query, line)
            assert all(value in line for _, value in result.group), (query, line, result.group)


@pytest.mark.parametrize("name", ["tree", "smooth"])
def test_what_spans_do_not_tell_is_refused_as_by_the_command(open_page, series, name):
    page = open_page((series[name].folder / "report.html").as_uri())
    for query in ALONE[:5]:
        with pytest.raises(ValueError, match=r"separate periods|different groups"):
            series[name].results(query)
        assert "spans of several" in ask(page, query)[0]


def test_what_the_page_does_not_answer_has_the_command_beside_it(open_page, series):
    page = open_page((series["separate"].folder / "report.html").as_uri())
    for query, words in {"mean ward": "", "count by wards": "ward", "visited = 2023-01": "", "sex = x": ""}.items():
        assert words in ask(page, query)[0]
        assert page.locator(".ask pre").inner_text() == f"dpress query FOLDER '{query}'"


def test_examples_of_the_box_are_answered(open_page, series):
    for name in ("separate", "tree", "tables"):
        page = open_page((series[name].folder / "report.html").as_uri())
        for button in page.locator(".ask .note button").all():
            button.click()
            assert "interval" in page.locator(".ask .answer").inner_text(), (name, button.inner_text())


def test_the_controls_write_a_query(open_page, series):
    page = open_page((series["separate"].folder / "report.html").as_uri())
    page.locator(".ask summary").click()
    page.get_by_label("Ward", exact=True).select_option("hearts")
    assert page.locator("#query").input_value() == "ward = hearts"
    assert ask(page, "ward = hearts")


@pytest.mark.parametrize("query", STATED)
def test_the_page_of_statistics_answers_as_the_command_does(open_page, series, query):
    own = series["statistics"]
    results = own.results(query)
    lines = ask(open_page((own.folder / "report.html").as_uri()), query)
    assert len(lines) == len(results)
    for line, result in zip(lines, results, strict=True):
        period = result.query.partition(":")[0] if not result.group else result.group[0][1]
        names = [period, *(value for _, value in result.group if value != period)]
        assert line.startswith(f"{', '.join(names)}: "), (line, result.group)
        exact = (result.value, *result.interval, result.standard_error)
        told = numbers(line)
        assert len(told) == 4, line
        for (shown, digit), number in zip(told, exact, strict=True):
            assert abs(shown - number) <= max(digit, result.standard_error / 3), (query, line, exact)


def test_what_the_page_of_statistics_does_not_answer_has_the_command_beside_it(open_page, series):
    page = open_page((series["statistics"].folder / "report.html").as_uri())
    refused = {
        "mean cost where ward in (eyes, hearts)": "single groups",
        "variance cost": "No statistic of this page",
        "mean cost where visited = 2024-02": "leave out visited",
        "mean coast": "coast",
    }
    for query, words in refused.items():
        assert words in ask(page, query)[0]
        assert page.locator(".ask pre").inner_text() == f"dpress query FOLDER '{query}'"
    for button in page.locator(".ask .note button").all():
        button.click()
        assert "interval" in page.locator(".ask .answer").inner_text(), button.inner_text()
    assert page.locator(".ask .note button").count() == 5
