"""What lies beyond a bound is clamped into the outermost cell, also where a part's attribute is another one."""

import datetime as dt

import pyarrow as pa
import pytest

from dpress.release.statements.plan_statements import plan_statements
from dpress.release.statements.publish_statements import publish_statements

DAYS = [dt.date(1801, 5, 1), dt.date(2024, 1, 1), dt.date(2024, 3, 9), dt.date(2024, 12, 31), dt.date(2500, 7, 1)]
ROWS = pa.table({
    "age": [-5, 0, 17, 18, 64, 65, 99, 120] * 50,
    "amount": [-7.0, 0.0, 10.0, 249.5, 250.0, 999.0, 1000.0, 5000.0] * 50,
    "visited": pa.array((DAYS * 80)[:400]),
    "cost": [1.0] * 400,
})  # fmt: skip
PLAIN = {
    "attribute": [
        {"name": "age", "kind": "integer", "bounds": [0, 99]},
        {"name": "amount", "kind": "numeric", "bounds": [0, 1000], "bins": 100},
        {"name": "visited", "kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "cells": "day"},
        {"name": "cost", "kind": "numeric", "bounds": [0, 2], "bins": 2},
    ],
    "privacy": {"epsilon": 1000.0},
}
CASES = {
    "age >= 18": 250, "age < 18": 150, "age between 18 and 99": 250, "age between 0 and 17": 150,
    "age between 18 and 64": 100, "age > 64": 150, "age >= 0": 400,
    "amount >= 250": 200, "amount < 250": 200, "amount between 250 and 1000": 200, "amount between 10 and 250": 100,
    "visited >= '2024-03-01'": 240, "visited < '2024-03-01'": 160, "visited between '2024-02-01' and '2024-05-31'": 80,
    "visited between '2024-03-01' and '2024-12-31'": 240, "visited >= '2024-01-01' and visited < '2024-03-01'": 160,
}  # fmt: skip


@pytest.mark.parametrize("where", CASES)
def test_rows_beyond_a_bound_count_where_they_are_clamped_to(where: str, tmp_path) -> None:
    text = f"select count(*), avg(cost) from visits where {where}"
    planned = plan_statements(PLAIN, text)
    made = publish_statements(planned, ROWS, out=tmp_path / "out")
    (row,) = made.answer(1).table.to_pylist()
    assert row["count"] == pytest.approx(CASES[where], abs=2)
    assert row["count_error"] < 1


@pytest.mark.parametrize(
    ("where", "size"),
    [("age >= 18", 2), ("age between 18 and 64", 1), ("amount >= 250", 2), ("visited >= '2024-03-01'", 1)],
)
def test_such_an_attribute_has_as_few_cells_as_there_are_sides(where: str, size: int) -> None:
    planned = plan_statements(PLAIN, f"select avg(cost) from visits where {where}")
    schema = planned.parts[0].planned.spec.schema
    assert schema.attribute(where.split(maxsplit=1)[0]).size == size


def test_rows_that_are_not_clamped_are_not_counted(tmp_path) -> None:
    age = PLAIN["attribute"][0] | {"outside": "drop"}
    text = "select count(*), avg(cost) from visits where age >= 18"
    planned = plan_statements(PLAIN | {"attribute": [age, PLAIN["attribute"][3]]}, text)
    (row,) = publish_statements(planned, ROWS, out=tmp_path / "out").answer(1).table.to_pylist()
    assert row["count"] == pytest.approx(200, abs=2)
