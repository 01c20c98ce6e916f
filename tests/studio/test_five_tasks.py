"""Five common tasks: the table of the documentation is what was counted, and every one of them is done."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
from pyarrow.csv import read_csv
from pyarrow.parquet import write_table

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanations/five-tasks.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tasks():
    place = importlib.util.spec_from_file_location("five_tasks", ROOT / "bench/five_tasks.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def listed(task):
    """Return the cells of a task in the table."""
    (row,) = re.findall(rf"^\| {task} \|(.*)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def test_the_table_is_what_is_counted(tasks):
    sizes = {tool: tasks.sizes(tool) for tool in tasks.TOOLS}
    for task in tasks.TASKS:
        counted = [f"{own[task]['statements']}, {own[task]['calls']}" for own in sizes.values()]
        assert [cell.removesuffix(" (by hand)") for cell in listed(task)[:-1]] == counted


def test_no_task_takes_less_elsewhere(tasks):
    own, *peers = (tasks.sizes(tool) for tool in tasks.TOOLS)
    for task in tasks.TASKS:
        for measure in ("statements", "calls"):
            assert own[task][measure] <= min(peer[task][measure] for peer in peers)


def test_all_five_are_done_in_python(tasks, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
    given = tasks.run("dpress")
    assert given["budget"] == "refused: BudgetExceeded"
    assert float(given["choose"]) == pytest.approx(2**0.5 / 10, rel=0.015)
    assert "95 % interval" in given["mean"]


class Counting:
    """A page whose clicks and filled fields are counted."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def click(self, field):
        self.actions += 1
        field.click()

    def fill(self, field, text):
        self.actions += 1
        field.fill(text)

    def taken(self):
        done, self.actions = self.actions, 0
        return str(done)


@pytest.mark.slow
def test_all_five_are_done_in_the_studio_in_so_many_actions(tasks, open_page, open_studio, tmp_path):
    tasks.table(tmp_path / "people.csv")
    table = read_csv(tmp_path / "people.csv")
    write_table(table, tmp_path / "people.parquet")
    page = open_page(open_studio(tmp_path / "people.parquet"), expected=["400 (Bad Request)"])
    own, plan = Counting(page), page.locator("#plan")
    own.click(page.get_by_role("button", name="Look at its columns"))
    own.click(page.get_by_label("use education ("))
    own.fill(page.locator("fieldset[data-column=education]").get_by_label("Its values"), "\n".join(tasks.LEVELS))
    own.click(page.get_by_label("A row"))
    own.click(page.get_by_role("button", name="One full table"))
    plan.get_by_text("epsilon = 1 (proven)").wait_for()
    assert page.get_by_role("button", name="Publish: spend epsilon 1").count() == 1
    own.actions += 1  # which would spend the budget of the tasks that follow
    assert own.taken() == listed("histogram")[-1]
    own.fill(page.get_by_label("epsilon on a slider"), "-85")
    plan.get_by_text("± 10").first.wait_for()
    assert own.taken() == listed("choose")[-1]
    page.get_by_label("epsilon on a slider").fill("0")
    plan.get_by_text("epsilon = 1 (proven)").wait_for()
    own.click(page.get_by_label("use age ("))
    for label, text in (("From", "0"), ("to", "100")):
        own.fill(page.locator("fieldset[data-column=age]").get_by_label(label, exact=True), text)
    own.click(page.get_by_role("button", name="Means and medians"))
    own.click(page.get_by_role("group", name="Means of").get_by_label("age"))
    own.click(page.locator("[data-wish=histogram-1]").get_by_label("education"))  # alone, now that there are ages
    plan.get_by_text("mean age").first.wait_for()
    own.actions += 1  # publish, again
    assert own.taken() == listed("mean")[-1]
    for name in ("histogram-1", "statistics-1"):
        shown = page.locator("#step-do fieldset", has_text=name)
        own.click(shown.get_by_role("button", name="Publish: spend epsilon 0.5"))
        shown.get_by_role("link", name="Its page").wait_for()
    assert own.taken() == listed("budget")[-1]
    page.get_by_role("button", name="Tables").click()
    page.locator("#step-do fieldset", has_text="marginals-1").locator(".wrong-line").wait_for()
    assert "nothing of the budget is left for this wish" in page.locator("#step-do .wrong-line").inner_text()
    with page.context.expect_page() as opened:
        own.click(page.get_by_role("link", name="Its page").first)
    opened.value.get_by_role("heading", level=1).wait_for()
    assert own.taken() == listed("explain")[-1]
