"""Whole numbers of regions: they add up everywhere, keep what is public or impossible, and are the records."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.kinds.regions.small_country import TRACTS, people, specification

import dpress
from dpress.core.basics import rng


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("regions") / "release"
    parameters: dict[str, Any] = {
        "records": True,
        "impossible": ["age = 0 and sex = m"],
        "invariants": {"state": "rows"},
    }
    dpress.publish(specification({"rho": 0.05}, **parameters), people(), out=made, rng=rng.seeded(3))
    return made


def adjusted(folder: Path, level: str) -> dict[tuple[str, ...], int]:
    table = pq.read_table(folder / f"{level}.parquet")
    names = [*([level] if level != "total" else []), "sex", "age"]
    rows = zip(*(table[name].to_pylist() for name in names), table["adjusted"].to_pylist(), strict=True)
    return {tuple(key): count for *key, count in rows}


def test_every_level_is_whole_and_adds_up_to_the_one_above(folder: Path) -> None:
    fine = adjusted(folder, "tract")
    assert all(isinstance(count, int) and count >= 0 for count in fine.values())
    for level, length in (("county", 2), ("state", 1)):
        coarse = adjusted(folder, level)
        for (code, sex, age), count in coarse.items():
            assert count == sum(fine[tract, sex, age] for tract in TRACTS if tract[:length] == code)
    assert sum(adjusted(folder, "total").values()) == sum(fine.values()) == people().num_rows


def test_public_totals_hold_and_nobody_is_what_is_impossible(folder: Path) -> None:
    state, tracts = adjusted(folder, "state"), people()["tract"].to_pylist()
    for code in "12":
        assert sum(count for (where, *_), count in state.items() if where == code) == sum(
            1 for tract in tracts if tract.startswith(code)
        )
    assert not any(count for (_, sex, age), count in state.items() if (sex, age) == ("m", "0"))


def test_the_records_are_the_persons_of_the_tables(folder: Path) -> None:
    records = pq.read_table(folder / "records.parquet")
    assert records.column_names == ["place", "sex", "age"]
    counted: dict[tuple[str, ...], int] = dict.fromkeys(adjusted(folder, "tract"), 0)
    for person in zip(*(column.to_pylist() for column in records.columns), strict=True):
        counted[person] += 1
    assert counted == adjusted(folder, "tract")


def test_estimates_and_errors_are_those_without_records(folder: Path) -> None:
    plain = dpress.publish(specification({"rho": 0.05}, invariants={"state": "rows"}), people(), rng=rng.seeded(3))
    again = dpress.load_release(folder)
    for text in ("tract = 1A1 and sex = m and age = 0", "county = 2C"):
        assert again.query(text).value == pytest.approx(plain.query(text).value)
        assert again.query(text).standard_error == pytest.approx(plain.query(text).standard_error)


def test_evaluation_tells_the_error_of_both(folder: Path) -> None:
    metrics = dpress.evaluate(dpress.load_release(folder), people())
    assert metrics["state total: mean_absolute_error"] == pytest.approx(0, abs=1e-9)
    assert metrics["state total: adjusted_mean_absolute_error"] == 0
    names = [name for name in metrics if name.startswith("tract sex x age: ")]
    assert len(names) == 5
    assert np.isfinite([metrics[name] for name in names]).all()
    assert metrics["tract total of 1 to 9: regions"] == 1
    state = "state total of 100 to 999: adjusted_"
    assert [metrics[f"{state}{name}"] for name in ("mean_absolute_error", "bias", "mean_absolute_percent_error")] == [
        0
    ] * 3
