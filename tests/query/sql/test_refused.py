"""What no release answers is refused in one line, which has the place and says what is asked instead."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.query.sql.visits import release

from dpress.query.sql.sql_refusal import SqlRefusal

CASES = tomllib.loads(Path(__file__).with_name("understood.toml").read_text(encoding="utf-8"))["refused"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["statement"])
def test_the_line_says_what_and_where(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        release().sql(case["statement"])
    line = str(refused.value)
    assert case["words"] in line
    assert "\n" not in line
    assert "column" not in case or f"(line 1, column {case['column']})" in line


def test_a_place_is_shown_below_its_line() -> None:
    with pytest.raises(SqlRefusal) as refused:
        release().sql("select ward,\n  count(*)\nfrom visits group by wrd")
    assert refused.value.caret == "from visits group by wrd\n                     ^^^"
    assert "(line 3, column 22)" in str(refused.value)


def test_a_fault_far_behind_has_its_place() -> None:
    long = "select count(*) from visits where " + " or ".join(f"age = {age}" for age in range(40)) + " orr age = 41"
    with pytest.raises(SqlRefusal) as refused:
        release().sql(long)
    assert refused.value.start is not None
    assert long[refused.value.start :].startswith("orr")


def test_columns_that_differ_in_case_only_are_quoted() -> None:
    assert release().sql("select count(*) from visits where AGE < 3 and \"sex\" = 'f'").table.num_rows == 1
