"""The page of a list of queries: bars with intervals, the table, and the sentences on cells and bounds."""

import re

from tests.kinds.conftest import AGE, KINDS, REGION, make
from tests.kinds.reading import html_of, text_of, text_of_page


def test_every_query_stands_in_the_figure_and_in_the_table() -> None:
    html, shown = html_of("queries"), text_of("queries")
    assert html.count('class="chart wide"') == 3  # beliefs, answers, methods
    for number, text in enumerate(("age >= 10 or region = X", "sex = Male", "age < 5"), 1):
        assert f"{number}. {text}" in shown
    assert "queries.parquet" in shown


def test_it_says_what_the_queries_form_and_how_wrong_they_are_at_once() -> None:
    release, shown = KINDS["queries"](), text_of("queries")
    cells = release.workload.cells
    assert f"all rows fall into {cells} cells, and every query is a sum of such cells" in shown
    assert "Answers to 3 queries about age, region and sex" in shown
    assert re.search(r"every one of the 3 answers is within ± \d+ rows of the truth: a bound", shown)


def test_measured_queries_have_the_exact_quantile_and_fewer_further_answers() -> None:
    queries = {"queries": ["age >= 10", "region = X or age < 3"]}
    shown = text_of_page(make("queries", [AGE, REGION], parameters=queries, method="direct_queries"))
    assert "the exact quantile of the largest of so many independent noise values" in shown
    assert "and follows from the measured counts" in shown
    assert "sensitivity × ln(2 / 0.05) / ε" in shown
    assert "and follows from the measured counts" not in text_of("queries")


def test_a_text_is_escaped() -> None:
    queries = {"queries": ["age < 10", "age > 12"]}
    release = make("queries", [AGE], parameters=queries)
    from dpress.reporting.page import page

    assert "1. age &lt; 10" in page(release)


def test_one_query_alone_is_spoken_of_in_the_singular() -> None:
    shown = text_of_page(make("queries", [AGE], parameters={"queries": ["age < 10"]}))
    assert "Answers to 1 query about age" in shown
    assert "the 1 query asked for" in shown
