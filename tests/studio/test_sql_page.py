"""Statements of SQL in a real browser: the plan as they are typed, a refusal with its place, answers, a question."""

import csv
import io
from pathlib import Path

import pytest
from tests.browser import RULES
from tests.studio.test_studio_page import describe

pytestmark = pytest.mark.slow
WRONG = "select sex, count(*) as n\nfrom people where agee >= 50 group by sex"
RIGHT = WRONG.replace("agee", "age")


def test_statements_from_a_typing_error_to_a_question(open_studio, open_page, rows):
    page = open_page(open_studio(rows), expected=["400 (Bad Request)"])
    describe(page)
    page.get_by_role("button", name="Statements of SQL").click()
    field, plan = page.get_by_label("Statements, with a semicolon"), page.locator("#plan")
    field.fill(WRONG)
    place = plan.get_by_label("Where the statement is refused")
    place.get_by_text("agee").wait_for()
    line, mark = place.inner_text().split("\n")
    assert (mark.strip(), mark.index("^")) == ("^^^^", line.index("agee"))
    assert "did you mean 'age'?" in plan.inner_text()
    field.fill(RIGHT)
    plan.get_by_text("for all statements together").wait_for()
    planned = plan.get_by_label("What is planned, and its errors")
    assert planned.nth(-2).get_by_text("±").count() == 2
    assert "queries" in planned.nth(-1).inner_text()
    assert page.evaluate("document.activeElement.value") == RIGHT  # whoever types is not interrupted
    shown = page.locator("#step-do fieldset", has_text="sql-1")
    shown.get_by_role("button", name="Publish: spend epsilon 0.5").click()
    shown.locator(".answer").wait_for()
    with page.expect_download() as saved:
        shown.get_by_role("link", name="Save as CSV").click()
    assert saved.value.suggested_filename == "sql-1-1.csv"
    table = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text("utf-8"))))
    assert [row["sex"] for row in table] == ["f", "m"]
    assert all(float(row["n_low"]) < float(row["n"]) < float(row["n_high"]) for row in table)
    other = page.locator("#step-do fieldset", has_text="marginals-1")
    other.get_by_role("button", name="Publish").click()
    other.get_by_text("Ask it in SQL, for nothing").click()
    question = other.get_by_label("A statement over what is released")
    question.fill("select pet, count(*) from release group by pet order by 2 desc")
    other.get_by_role("button", name="Ask", exact=True).click()
    other.locator(".answer").wait_for()
    assert other.locator(".answer tbody tr").first.inner_text().startswith("cat")
    assert "Nothing is charged" in other.inner_text()
    spent = page.locator("#step-do .why").first.inner_text()
    question.fill("select pett from release")
    other.get_by_role("button", name="Ask", exact=True).click()
    other.locator(".caret").wait_for()
    assert page.locator("#step-do .why").first.inner_text() == spent


def test_axe_finds_nothing_wrong_in_statements_and_answers(open_studio, open_page, axe, rows):
    page = open_page(open_studio(rows), expected=["400 (Bad Request)"], viewport={"width": 390, "height": 800})
    describe(page)
    for sql in (RIGHT, WRONG):
        page.get_by_role("button", name="Statements of SQL").click()
        page.get_by_label("Statements, with a semicolon").last.fill(sql)
    page.locator("#plan .caret").wait_for()
    page.locator("#step-do fieldset", has_text="sql-1").get_by_role("button", name="Publish").click()
    page.locator(".answer").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert [(one["id"], one["nodes"][0]["html"]) for one in axe(page, RULES)["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
