"""The page of statistics: every statistic with its interval, drawn and listed; what is not known is said."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.kinds.statistics.statistics_spec import AGE, COST, WARD, spec, table

from dpress import publish, report
from dpress.core.basics import rng
from dpress.inference.group_moments import Estimates
from dpress.kinds.statistics import group_figures
from dpress.kinds.statistics.group_figures import inside
from dpress.kinds.statistics.page import page
from dpress.kinds.statistics.units import in_units, with_unit
from dpress.reporting.rounding import stated


def shown(**changes: Any) -> str:
    return page(publish(spec(**changes), table(), rng=rng.seeded(3)))


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_every_statistic_has_a_table_and_a_figure() -> None:
    html = shown()
    release = publish(spec(), table(), rng=rng.seeded(3))
    for name in release.answers.groups().names:
        title = with_unit(name, release.schema)
        assert f"<h3>{title.name}</h3>" in html
        assert f'aria-label="{title.caption}"' in html
    found = release.query("mean cost where ward = eyes")
    value, interval, error = stated(found.value, found.interval, found.standard_error)
    assert f"eyes {value} {interval} {error}" in words(html)


def test_a_group_that_may_be_empty_has_no_value() -> None:
    text = words(shown())
    assert "cannot be told from empty ones" in text
    assert re.search(r"none not known 0 to 1,000 not known", text)


def test_quantiles_are_drawn_as_boxes_and_the_caption_says_of_what() -> None:
    assert inside([0.1, 0.25, 0.5, 0.75, 0.9]) == [0.25, 0.5, 0.75]
    assert inside([0.1, 0.5, 0.9]) == [0.1, 0.5, 0.9]
    text = words(shown(quantiles={"cost": [0.1, 0.25, 0.5, 0.75, 0.9]}))
    assert "from the lowest to the highest of the quantiles 0.1, 0.25, 0.5, 0.75, 0.9, the box between" in text
    assert "the thick tick is the median" in text
    text = words(shown(quantiles={"cost": [0.1, 0.9]}))
    assert "The box runs from the lowest to the highest of the quantiles 0.1, 0.9." in text
    assert "thick tick" not in text
    assert "The thin lines below are 95 % intervals of these quantiles." in text


def test_all_rows_may_be_the_one_group() -> None:
    own: dict[str, Any] = {"by": None, "variance": None, "quantiles": None, "share": None}
    text = words(shown(attributes=[COST, AGE], **own))
    assert "all rows are one" in text
    assert "All groups together" in text


def test_the_page_is_what_report_writes(tmp_path: Path) -> None:
    release = publish(spec(), table(), rng=rng.seeded(3))
    assert "NOT PRIVATE" in report(release, tmp_path / "page.html").read_text("utf-8")  # from a seeded generator


def test_the_box_is_between_the_quantiles_that_the_page_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 0.1, 0.5 and 0.9 only one is an inner one, so that it runs between the outer ones."""
    drawn: list[Any] = []
    monkeypatch.setattr(group_figures, "both", lambda draw, _: draw(400))
    monkeypatch.setattr(group_figures, "_boxes", lambda lines, ticks, *_: drawn.extend([ticks, lines]))
    for shares, ends in (((0.1, 0.5, 0.9), (1, 9)), ((0.1, 0.25, 0.5, 0.75, 0.9), (2.5, 7.5))):
        values = {
            share: Estimates(**dict.fromkeys(("value", "standard_error", "low", "high"), np.array([10 * share])))
            for share in shares
        }
        group_figures.boxes(["all"], values, "age")
        assert (drawn[-1][0]["from"], drawn[-1][0]["to"]) == ends
        assert [(tick["low"], tick["high"]) for tick in drawn[-2]] == [(10 * share, 10 * share) for share in shares]
        assert [10 * share for share in (group_figures.inside(shares)[0], group_figures.inside(shares)[-1])] == [*ends]


def test_the_numbers_of_the_opening_are_those_of_the_tables() -> None:
    html = shown(quantiles=None, variance=None)
    (opening,) = re.findall(r'<p class="opening">(.*?)</p>', html, flags=re.DOTALL)
    rest = words(html.replace(opening, ""))
    numbers = re.findall(r"\d[\d,.]*\d", opening.partition(".")[2].replace("give or take", ""))
    assert len(numbers) > 2
    assert [number for number in numbers if number not in rest] == []


def test_a_chosen_quantile_says_what_it_is_of_a_group_of_nobody() -> None:
    own: dict[str, Any] = {"mean": None, "variance": None, "quantiles": None, "share": None, "intervals": False}
    html = shown(attributes=[WARD, AGE], median=["age"], **own)
    figure = re.findall(r"<figcaption>(.*?)</figcaption>", html, flags=re.DOTALL)
    assert "Chosen, without an interval: of a group of few rows, or of nobody, it may be any cell." in figure[0]


def test_a_share_in_percent_has_the_design_effect_and_the_marks_of_the_share() -> None:
    numbers, marks = np.array([0.25, 0.5]), np.array([True, False])
    ends = (numbers - 0.1, numbers + 0.1)
    named = dict.fromkeys(("value", "standard_error", "low", "high", "sampling", "design_effect"), numbers)
    share = Estimates(**named, population=ends, hidden=marks)
    results: Any = SimpleNamespace(of=lambda _: share)
    percent: Any = in_units(results, "share sex = f")
    assert [*percent.value, *percent.sampling] == [25.0, 50.0] * 2
    assert np.array_equal(percent.population[1], 100 * ends[1])
    assert percent.design_effect is numbers
    assert percent.hidden is marks
