"""The script that reproduces the document on mixed microdata: its files, its verdicts, and that a fault fails."""

import csv
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.mixed import example

PAPERS = Path(__file__).parents[2] / "papers"
DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
FIGURES = ("sse_by_epsilon", "sse_by_k", "sse_by_d", "linkage")
PUBLISHED = {"dp_k_prototypes", "mdav", "per_value"}


def run(out: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPERS / "microdata.py"), "--quick", "--out", str(out)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | more)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PAPERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def errors(path: Path) -> list[dict[str, Any]]:
    kinds = dict.fromkeys(("d", "asked", "k", "runs", "rows"), int) | dict.fromkeys(("sse", "linkage_percent"), float)
    return [{name: kinds.get(name, str)(value) for name, value in row.items()} for row in rows(path)]


@pytest.fixture(scope="module")
def methods() -> ModuleType:
    return load("microdata_methods")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    if not (DATA / "adult" / "adult.parquet").is_file():
        pytest.skip(f"no reference data in {DATA}; set DPRESS_DATA to run this test")
    out = tmp_path_factory.mktemp("microdata")
    return out, run(out, DPRESS_DATA=str(DATA))


@pytest.mark.slow
def test_every_claim_of_ours_holds_and_every_file_is_there(
    quick: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, done = quick
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = done.stdout.splitlines()
    assert len(verdicts) == len(rows(out / "claims.csv"))
    assert {line[:14].strip() for line in verdicts} == {"holds", "held", "did not hold"}
    for name in FIGURES:
        assert (out / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (out / f"{name}.svg").read_text(encoding="utf-8")
    found = errors(out / "errors.csv")
    assert {row["method"] for row in found} == PUBLISHED | {"per_record", "representative", "mixture"}
    assert {row["rows"] for row in found if row["method"] == "dp_k_prototypes"} == {30_162}


@pytest.mark.slow
def test_a_wrong_error_fails(quick: tuple[Path, subprocess.CompletedProcess[str]], methods: ModuleType) -> None:
    del methods  # which the claims import
    claims, measured = load("microdata_claims"), errors(quick[0] / "errors.csv")
    assert all(one.holds for one in claims._proven(measured))  # the others do not read the errors
    wrong = [row | {"sse": 5 * row["sse"]} if row["method"] == "mixture" else row for row in measured]
    assert any(not one.holds for one in claims._proven(wrong))
    falls = next(one for one in claims.of_the_document(measured) if one.claim.startswith("SSE rises"))
    upside = [row | {"sse": 1 / row["sse"]} for row in measured]
    rises = next(one for one in claims.of_the_document(upside) if one.claim.startswith("SSE rises"))
    assert (falls.holds, rises.holds) == (True, False)


@pytest.mark.slow
def test_without_data_it_says_so(tmp_path: Path) -> None:
    done = run(tmp_path / "out", DPRESS_DATA=str(tmp_path))
    assert done.returncode == 2
    assert "set DPRESS_DATA" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("aligned", [True, False])
def test_the_truth_has_no_error_and_a_wrong_value_has_its_square(
    methods: ModuleType, monkeypatch: pytest.MonkeyPatch, *, aligned: bool
) -> None:
    codes = np.array([[0, 1, 2, 3, 4], [0, 1, 2, 0, 1]], dtype=np.int32)
    monkeypatch.setattr(methods, "adult", lambda _: (codes, example()))

    def found(records: Any) -> Any:
        made = methods.Made(codes=records, aligned=aligned, clusters=0, seconds=0.0)
        return methods.compared(2, "mdav", made, rng.seeded(1))

    exact = found(codes)
    assert (exact.sse, exact.linkage, exact.rows) == (0.0, 100.0, 5)
    wrong = codes.copy()
    wrong[1, 4] = 0
    assert found(wrong).sse == pytest.approx(1.0)
