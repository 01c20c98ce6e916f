"""Adjusted counts on the page: beside the unbiased ones, with what changed and in which direction."""

import re
from dataclasses import replace
from html import unescape

import msgspec
import numpy as np
import pytest
from tests.kinds.conftest import AGE, REGION, SEX, make
from tests.kinds.reading import undrawn

from dpress.data.specification.toml import as_toml
from dpress.inference.postprocess import NAMES
from dpress.kinds.tables.page import derived_views
from dpress.query.release import Release
from dpress.reporting import page_tables
from dpress.reporting.facts import facts
from dpress.reporting.page import page
from dpress.reporting.postprocessing import Effect, effect
from dpress.reporting.views import View


def named(release: Release, *names: str) -> Release:
    """Return the same noise with post-processing named."""
    asked = {**release.design.release, "postprocess": [*names]}
    return replace(release, design=msgspec.structs.replace(release.design, release=asked))


def views(release: Release) -> list[View]:
    return facts(release).views


def effect_on(release: Release) -> Effect | None:
    return effect(facts(release).postprocess, views(release))


def ages(*names: str) -> Release:
    return named(make("ranges", [AGE], {"epsilon": 0.03}), *names)


def test_the_effect_counts_what_changed() -> None:
    release = ages("nonnegative", "integer")
    (view,) = views(release)
    assert view.adjusted is not None
    change = view.adjusted - view.count
    shown = effect_on(release)
    assert shown is not None
    assert shown.names == "nonnegative and integer"
    assert shown.biases == (("nonnegative", NAMES["nonnegative"].bias), ("integer", NAMES["integer"].bias))
    (file, name, cells, changed, largest, total) = shown.table.rows[0]
    assert (file, name, cells) == ("age.parquet", "age", "20")
    assert int(changed) == np.count_nonzero(change) > 0
    signed = float(largest.replace("\N{MINUS SIGN}", "-"))
    assert signed == pytest.approx(change[np.abs(change).argmax()], rel=0.06)
    assert total == "0" or abs(float(total.replace("\N{MINUS SIGN}", "-"))) <= 0.5


def test_nothing_changed_is_said_as_nothing() -> None:
    release = named(make("histogram", [SEX], {"epsilon": 1000}), "nonnegative")
    shown = effect_on(release)
    assert shown is not None
    assert shown.table.rows[0][-3:] == ("0", "0", "0")


def test_the_table_shows_the_adjusted_count_beside_the_unbiased_one() -> None:
    release = ages("nonnegative", "integer")
    (view,) = views(release)
    shown = page_tables.table(view)
    assert shown.names == ("age", "count", "95 % interval", "standard error", "adjusted")
    assert view.adjusted is not None
    assert [float(row[-1].replace(",", "")) for row in shown.rows] == pytest.approx(
        list(view.adjusted), abs=page_tables._unit(view)
    )
    assert [row[:-1] for row in shown.rows] == [*page_tables.table(views(ages())[0]).rows]


def test_sums_of_a_larger_table_add_its_adjusted_cells_up() -> None:
    release = named(make("marginals", [AGE, REGION, SEX], {"epsilon": 0.1}, method="identity"), "nonnegative")
    (whole,) = views(release)
    view = derived_views(facts(release), [whole])[1]
    assert view.name == "age × sex"
    assert whole.adjusted is not None
    assert view.adjusted == pytest.approx(whole.adjusted.sum(axis=1))
    assert "the sum of adjusted cells" in undrawn(release)
    turned = view.transposed((1, 0))
    assert turned.adjusted == pytest.approx(view.adjusted.T)
    assert turned.slice(1).adjusted == pytest.approx(view.adjusted[:, 1])


@pytest.mark.parametrize("names", [("nonnegative",), ("nonnegative", "integer"), ("monotone_prefix",)])
def test_the_page_says_it_in_words(names: tuple[str, ...]) -> None:
    html = undrawn(ages(*names))
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))
    assert all(NAMES[name].bias in text for name in names)
    assert ("in this order" in text) == (len(names) > 1)
    assert "its error is not known exactly" in text
    assert "change of the total" in text
    assert '<th scope="col">adjusted</th>' in html
    assert "need not agree" not in text


def test_several_tables_are_said_to_be_adjusted_each_by_itself() -> None:
    release = named(make("marginals", [AGE, REGION, SEX], method="marginals"), "nonnegative")
    html = undrawn(release)
    assert "adjusted tables need not agree with one another" in html
    assert len(re.findall(r'<th scope="col">adjusted</th>', html)) == 3


def test_nothing_is_said_where_nothing_is_named() -> None:
    release = ages()
    assert effect_on(release) is None
    assert "Adjusted counts" not in undrawn(release)
    assert "postprocess" not in as_toml(release.design.specification)


def test_drawings_are_of_the_unbiased_counts() -> None:
    drawings = [re.findall(r"<svg.*?</svg>", page(ages(*names)), re.DOTALL) for names in ((), ("nonnegative",))]
    assert drawings[0]
    assert drawings[0] == drawings[1]
