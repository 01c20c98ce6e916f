"""Marks of methods are seen and the same in every figure of a document; a bar is one standard error to either side."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def pictures(papers: Callable[[str], ModuleType]) -> ModuleType:
    return papers("pictures")


def test_a_method_keeps_its_marks_where_others_are_left_out(pictures: ModuleType) -> None:
    colours = {f"method {number}": f"#00000{number}" for number in range(9)}
    whole, few = pictures.marks(colours, list(colours)), pictures.marks(colours, ["method 8", "method 3"])
    for channel in ("color", "shape"):
        every, some = (
            dict(zip(scale["domain"], scale["range"], strict=True))
            for scale in (one[channel].to_dict()["scale"] for one in (whole, few))
        )
        assert list(some) == ["method 3", "method 8"]
        assert some == {name: every[name] for name in some}


def test_no_shape_is_a_line_which_a_filled_point_does_not_show(pictures: ModuleType) -> None:
    assert "stroke" not in pictures.SHAPES


def test_a_bar_ends_above_nothing(pictures: ModuleType) -> None:
    rows = [{"of": "a", "error": 4.0}, {"of": "a", "error": 6.0}, {"of": "b", "error": 0.0}, {"of": "b", "error": 10.0}]
    near, far = pictures.averaged(rows, "error", ("of",))
    assert near == {"of": "a", "error": 5.0, "standard_error": 1.0, "runs": 2, "bottom": 4.0, "top": 6.0}
    assert (far["standard_error"], far["bottom"], far["top"]) == (5.0, 2.5, 10.0)
    assert pictures.averaged(rows[:1], "error", ("of",))[0]["standard_error"] == 0
