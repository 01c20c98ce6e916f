"""The page of counts over ranges: which ranges the error is the mean over."""

from typing import Any

import pytest
from tests.kinds.conftest import AGE, make
from tests.kinds.reading import text_of, text_of_page, undrawn

SCORE = {**AGE, "name": "pay", "bounds": [0, 9]}


@pytest.mark.parametrize(
    ("attributes", "parameters", "over"),
    [
        ([AGE], {}, "over all 210 ranges"),
        ([AGE], {"length": 4}, "over the 17 ranges of 4 cells"),
        ([AGE], {"queries": ["age in 0..3", "age in 5..9"]}, "over the 2 ranges asked for"),
        ([AGE, SCORE], {}, "over all 11,550 boxes"),
        ([AGE, SCORE], {"queries": ["age in 0..3 and pay in 2..4"]}, "over the 1 boxes asked for"),
    ],
)
def test_what_the_error_is_averaged_over(attributes: list[dict[str, Any]], parameters: Any, over: str) -> None:
    assert text_of_page(make("ranges", attributes, parameters=parameters)).count(over) == 2  # above, and with the error


def test_the_title_and_the_noise() -> None:
    shown = text_of("ranges")
    assert "Counts over ranges of age" in shown
    assert "It adds discrete Laplace noise of scale" in shown
    assert "drawn independently and exactly in whole numbers for each of" in shown


def test_examples_are_ranges_that_were_listed() -> None:
    """Of any other range the release may know next to nothing."""
    listed = undrawn(make("ranges", [AGE], parameters={"queries": ["age in 0..3", "age in 5..9"]}))
    assert '"examples":["age in 0..3","age in 5..9"]' in listed
    assert "dpress query FOLDER &#39;age in 0..3&#39;" in listed
    boxes = undrawn(make("ranges", [AGE, SCORE], parameters={"queries": ["age in 0..3 and pay in 2..4"]}))
    assert '"examples":["age in 0..3 and pay in 2..4"]' in boxes
    assert '"examples"' not in undrawn(make("ranges", [AGE]))
