"""The script that reproduces the document on joint distributions: its files, its verdicts, and that a fault fails."""

import csv
import functools
import importlib.util
import itertools
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.core import rng
from dpress.inference.joint.mixture import step
from dpress.mechanisms.joint.rr_ldp import RrLdp

PAPERS = Path(__file__).parents[2] / "papers"
DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[3] / "shared" / "data"))
TABLES = ("errors.csv", "loops.csv", "report_sizes.csv", "claims.csv")
FIGURES = ("error_all", "error_sample", "seconds", "report_sizes")
WHOLE, PARTS = ("k", "runs", "cells", "users"), ("avd", "standard_error", "seconds", "passes", "epsilon")


def run(out: Path, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPERS / "joint.py"), "--quick", "--out", str(out)]
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
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    if not (DATA / "adult" / "adult_privbayes_45222.parquet").is_file():
        pytest.skip(f"no reference data in {DATA}; set DPRESS_DATA to run this test")
    out = tmp_path_factory.mktemp("joint")
    return out, run(out, DPRESS_DATA=str(DATA))


@pytest.mark.slow
def test_every_claim_of_ours_holds_and_every_file_is_there(
    quick: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, done = quick
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = done.stdout.splitlines()
    assert len(verdicts) >= 25
    assert not any(line.startswith("FAILS") for line in verdicts), done.stdout
    assert {line[:14].strip() for line in verdicts} == {"holds", "held", "did not hold"}
    assert len(rows(out / "claims.csv")) == len(verdicts)
    assert all(rows(out / name) for name in TABLES)
    for name in FIGURES:
        assert (out / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (out / f"{name}.svg").read_text(encoding="utf-8")
    assert {row["method"] for row in rows(out / "errors.csv")} == {
        "em", "lasso", "lremh", "product", "early", "pairs", "triples", "one",
    }  # fmt: skip


@pytest.mark.slow
def test_the_documents_findings_that_no_clock_decides(quick: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    found = {row["claim"].split(" (")[0]: row["holds"] for row in rows(quick[0] / "claims.csv")}
    assert found["a report of rr_ldp is shorter than rappor's"] == "True"
    assert found["LREMH is no worse than em"] == "True"
    assert found["NLTCS: LASSO's AVD stays near 0.1 even at f = 0.9"] == "False"


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    """The claims, of which the one that depends on no error is looked at once."""
    found = load("joint_claims")
    found._concave = functools.cache(found._concave)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "lasso", "lremh", "product", "pairs", "one"])
def test_a_wrong_error_fails(
    quick: tuple[Path, subprocess.CompletedProcess[str]], claims: ModuleType, method: str
) -> None:
    measured = errors(quick[0] / "errors.csv")
    assert all(one.holds for one in claims.of_ours(measured))
    wrong = [row | {"avd": 3 * row["avd"]} if row["method"] == method else row for row in measured]
    failed = [one.claim for one in claims.of_ours(wrong) if not one.holds]
    assert any(f"the AVD of {method} is" in claim for claim in failed)


@pytest.mark.slow
def test_without_data_it_says_so(tmp_path: Path) -> None:
    done = run(tmp_path / "out", DPRESS_DATA=str(tmp_path))
    assert done.returncode == 2
    assert "set DPRESS_DATA" in done.stderr
    assert not (tmp_path / "out").exists()


def test_equal_reports_counted_once_give_the_same_step() -> None:
    methods = load("joint_methods")
    values = (rng.seeded(1).words(3 * 200) >> np.uint64(63)).astype(np.int32).reshape(3, 200)
    bits = methods.one_hot_bits(RrLdp(sizes=(2, 2, 2), f=Fraction(1, 2)), values, rng=rng.seeded(2))
    parts = [own.likelihoods(strings) for own, strings in zip(bits.evidence, bits.strings, strict=True)]
    halves = bits.split.halves(parts)
    uniform = np.full(8, 1 / 8)
    kinds = []

    def each(kernel: Any) -> Any:
        return kernel(halves)

    def counted(kernel: Any) -> Any:
        def seen(own: Any) -> Any:
            kinds.append(len(own.counts))
            return kernel(own)

        return bits.fold()(seen)

    ours = step(counted, bits.split, uniform, 200)
    assert kinds == [len(np.unique(np.concatenate(bits.strings, axis=1), axis=0))]
    assert kinds[0] < 200
    assert np.allclose(ours.table, step(each, bits.split, uniform, 200).table, atol=1e-6)


def test_every_method_is_near_the_truth_where_there_is_little_noise() -> None:
    methods = load("joint_methods")
    source = rng.seeded(3)
    values = (source.words(3 * 20_000) >> np.uint64(63)).astype(np.int32).reshape(3, -1)
    values[1] &= values[0]
    true = methods.truth(values, (2, 2, 2))
    oracle = RrLdp(sizes=(2, 2, 2), f=Fraction(1, 100), p=Fraction(1, 100), q=Fraction(99, 100))
    found = list(methods.from_bits(methods.one_hot_bits(oracle, values, rng=source), true))
    found += methods.from_questions((2, 2, 2), oracle.claim.proven, values, true, rng=source)
    names = {one.method for one in found}
    assert names == {"product", "em", "lasso", "lremh", "early", "pairs", "triples", "one"}
    for one in found:
        assert one.avd < (0.3 if one.method in {"product", "lasso", "lremh"} else 0.03), one


def test_bloom_filters_of_one_hash_cost_what_one_hot_strings_cost() -> None:
    methods = load("joint_methods")
    for size, f in itertools.product((2, 7), (Fraction(1, 10), Fraction(9, 10))):
        assert methods.bloom_oracle(size, f).claim.proven == RrLdp(sizes=(size,), f=f).claim.proven
