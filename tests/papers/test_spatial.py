"""The script that reproduces the document on positions: its files, its verdicts, and that a fault fails."""

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

PAPERS = Path(__file__).parents[2] / "papers"
DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
FIGURES = ("errors_checkin", "errors_landmark", "sides")
SYSTEMS = {"krr", "rappor", "n_gtr", "n_psda", "qt_krr", "qt_rappor", "psda", "gtr"}
WHOLE, PARTS = ("side", "runs", "users"), ("low", "high", "relative_error", "standard_error")
Z = 5.0  # standard deviations; a false alarm in 1.7 million


def run(out: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPERS / "spatial.py"), "--quick", "--out", str(out)]
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
    kinds = dict.fromkeys(WHOLE, int) | dict.fromkeys(PARTS, float)
    return [{name: kinds.get(name, str)(value) for name, value in row.items()} for row in rows(path)]


@pytest.fixture(scope="module")
def methods() -> ModuleType:
    return load("spatial_methods")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    if not (DATA / "gowalla" / "gowalla_poi_checkins.parquet").is_file():
        pytest.skip(f"no reference data in {DATA}; set DPRESS_DATA to run this test")
    out = tmp_path_factory.mktemp("spatial")
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
    assert {row["method"] for row in found if row["experiment"] == "nine"} == SYSTEMS
    assert {row["reports"] for row in found if row["experiment"] == "nine"} == {"real"}
    assert {row["users"] for row in found} == {777_734, 643_212}


@pytest.mark.slow
def test_what_was_found_of_the_documents_claims(quick: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    found = {row["claim"].split(" (")[0]: row["holds"] for row in rows(quick[0] / "claims.csv")}
    where = "landmark, epsilon 0.5, areas from 20%: GT-R is about"
    assert found[f"{where} 3 times better than qt_krr"] == "True"
    assert found[f"{where} 3 times better than psda"] == "False"
    assert found["N-GT-R is 2 to 3 times better than rappor"] == "False"


@pytest.mark.slow
@pytest.mark.parametrize(("experiment", "method"), [("ours", "gtr_top_down"), ("sides", "gtr")])
def test_a_wrong_error_fails(
    quick: tuple[Path, subprocess.CompletedProcess[str]], methods: ModuleType, experiment: str, method: str
) -> None:
    del methods  # which the claims import
    claims, measured = load("spatial_claims"), errors(quick[0] / "errors.csv")
    assert all(one.holds for one in claims.of_ours(measured))
    worse = {"ours": 20.0, "sides": 0.1}[experiment]
    wrong = [
        row | {"relative_error": worse * row["relative_error"]}
        if (row["experiment"], row["method"]) == (experiment, method) and row["side"] > 16
        else row
        for row in measured
    ]
    assert any(not one.holds for one in claims.of_ours(wrong))


@pytest.mark.slow
def test_without_data_it_says_so(tmp_path: Path) -> None:
    done = run(tmp_path / "out", DPRESS_DATA=str(tmp_path))
    assert done.returncode == 2
    assert "set DPRESS_DATA" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["krr", "gtr", "psda", "gtr_top_down"])
def test_real_and_simulated_collections_err_alike(
    methods: ModuleType, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A made-up city of 1,000 people: the mean squared error of a half of the box, over 20 collections of each kind."""
    words = rng.seeded(4).words(2 * 1000).reshape(2, -1).astype(np.float64) / 2.0**64
    cells = (methods.FINE * words**2).astype(np.int32)
    image = np.zeros((methods.FINE, methods.FINE))
    np.add.at(image, tuple(cells), 1)
    monkeypatch.setattr(methods, "places", lambda _: cells)
    monkeypatch.setattr(methods, "counted", lambda _: image)
    own, source, found = methods.made(method, 4, "1"), rng.seeded(5), {}
    half = methods.Rectangles(*(np.array([end]) for end in (0.0, 2.0, 0.0, 4.0)))
    truth = image[: methods.FINE // 2].sum()
    for kind in ("real", "simulated"):
        maps = [methods.collected(own, "city", kind, source=source) for _ in range(20)]
        found[kind] = np.array([float(one.values(half)[0]) - truth for one in maps]) ** 2
    first, second = (np.log(own + 1) for own in found.values())
    apart = (first.mean() - second.mean()) / np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 20)
    assert abs(apart) < Z
    broken = np.log(100 * found["real"] + 1)
    assert abs(broken.mean() - second.mean()) / np.sqrt((broken.var(ddof=1) + second.var(ddof=1)) / 20) > Z


def test_the_error_of_the_truth_is_nothing(methods: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.zeros((methods.FINE, methods.FINE))
    image[:16, :16] = 10.0
    monkeypatch.setattr(methods, "counted", lambda _: image)

    class Exact:
        grid = methods.Grid(methods.FINE)

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def values(self, given: Any) -> Any:
            return self.factor * methods.sums(image, given)

    assert methods.relative_error(Exact(1.0), "city", 0.05, 0.45) < 1e-12
    truths = methods.sums(image, methods.asked(0.05, 0.45)) > 0
    assert methods.relative_error(Exact(1.5), "city", 0.05, 0.45) == pytest.approx(0.5 * truths.mean(), rel=0.05)
