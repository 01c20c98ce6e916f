"""The grammar of statistics: what each text asks for, what stays a count, and one line for what cannot be read."""

import msgspec
import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.query.statistics_queries import Statistic, check, read

SCHEMA = Schema(
    tuple(
        msgspec.convert(plain, Attribute)
        for plain in (
            {"name": "age", "kind": "integer", "bounds": [17, 90]},
            {"name": "mean hours", "kind": "numeric", "bounds": [0, 100], "bins": 4},
            {"name": "place of birth where", "kind": "integer", "bounds": [0, 9]},
            {"name": "sex", "kind": "categorical", "values": ["f", "m", "a / b - count where"]},
            {"name": "grade", "kind": "ordinal", "values": ["low", "high"]},
        )
    )
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean age", Statistic(of="mean", attribute="age")),
        ("  Mean  age ", Statistic(of="mean", attribute="age")),
        ("mean age where sex = f", Statistic(of="mean", attribute="age", where="sex = f")),
        ("mean mean hours", Statistic(of="mean", attribute="mean hours")),
        ("sum place of birth where", Statistic(of="sum", attribute="place of birth where")),
        (
            "sum place of birth where where age < 20",
            Statistic(of="sum", attribute="place of birth where", where="age < 20"),
        ),
        ("median age", Statistic(of="quantile", attribute="age", level=0.5)),
        ("median age where sex = f", Statistic(of="quantile", attribute="age", where="sex = f")),
        ("quantile 0.9 of age", Statistic(of="quantile", attribute="age", level=0.9)),
        (
            "quantile .25 of mean hours where age > 20 and sex = f",
            Statistic(of="quantile", attribute="mean hours", level=0.25, where="age > 20 and sex = f"),
        ),
        ("share sex = f", Statistic(of="share", first="sex = f")),
        ("share sex = f where age < 20", Statistic(of="share", first="sex = f", where="age < 20")),
        (
            "share sex = 'a / b - count where' where age < 20",
            Statistic(of="share", first="sex = 'a / b - count where'", where="age < 20"),
        ),
        ("ratio sex = f / sex = m", Statistic(of="ratio", first="sex = f", second="sex = m")),
        (
            "ratio sex = 'a / b - count where' / total",
            Statistic(of="ratio", first="sex = 'a / b - count where'", second="total"),
        ),
        (
            "count sex = f - count sex = m and age < 20",
            Statistic(of="difference", first="sex = f", second="sex = m and age < 20"),
        ),
    ],
)
def test_statistics_are_read_and_written(text, expected):
    assert read(SCHEMA, text) == expected
    assert read(SCHEMA, expected.text) == expected


@pytest.mark.parametrize("text", ["age < 20", "mean hours in 25..50 and sex = f", "total", "sex = f", "", "where x", 3])
def test_conditions_and_what_starts_otherwise_are_left_to_counts(text):
    assert read(SCHEMA, text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mean sex", "mean of sex: expected an integer or numeric attribute, sex is categorical; ask for `share sex"),
        ("quantile 0.5 of grade", "quantile of grade: expected an integer or numeric attribute, grade is ordinal"),
        ("quantile 1 of age", r"quantile: expected a level strictly between 0 and 1, got 1.0"),
        ("quantile nan of age", "strictly between 0 and 1, got nan"),
        ("quantile half of age", "cannot read 'half' as the level of a quantile; write `quantile 0.9 of NAME`"),
        ("quantile 0.5", "cannot read 'quantile 0.5'; write `quantile 0.9 of NAME`"),
        ("mean agee", "there is no attribute 'agee'; the attributes are age, .*; did you mean 'age'"),
        ("mean", "cannot read 'mean'; write `mean NAME`"),
        ("mean age where", "`where` needs a condition behind it; write `mean NAME`"),
        ("mean where sex = f", "cannot read 'where sex = f'; write `mean NAME`"),
        ("share sex = f where", "`where` needs a condition behind it; write `share CONDITIONS`"),
        ("share sex = f where age < 20 where age > 2", "cannot read .*; write `share CONDITIONS`"),
        ("ratio sex = f", "cannot read 'ratio sex = f'; write `ratio CONDITIONS / CONDITIONS`"),
        ("ratio sex = f / ", "cannot read 'ratio sex = f /'; write `ratio"),
        ("count sex = f", "cannot read 'count sex = f'; write `count CONDITIONS - count CONDITIONS`"),
        ("count sex = f - sex = m", "write `count CONDITIONS - count CONDITIONS`"),
    ],
)
def test_what_is_no_statistic_is_refused_in_one_line(text, message):
    with pytest.raises(ValueError, match=message) as refused:
        read(SCHEMA, text)
    assert "\n" not in str(refused.value)


def test_levels_from_python_are_numbers():
    for level in ("0.5", None, 0, 1.0, -1):
        with pytest.raises(ValueError, match="expected a level strictly between 0 and 1"):
            check(SCHEMA, Statistic(of="quantile", attribute="age", level=level))
