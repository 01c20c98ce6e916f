"""The script that reproduces the document on ranges: its files, its verdicts, and that a fault does not pass."""

import csv
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dpress.core import rng
from dpress.core.claim import PureDP
from dpress.core.linear import Variance
from dpress.core.measurement import Measurement
from dpress.core.ranges import Range
from dpress.mechanisms.linear.binary_tree import BinaryTree
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.privelet import Privelet
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace

PAPERS = Path(__file__).parents[2] / "papers"
TABLES = ("experiment_1.csv", "experiment_2.csv", "strategies.csv", "claims.csv")
FIGURES = ("experiment_1", "experiment_2", "strategies", "diagonal")


def run(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PAPERS / "ranges.py"), "--quick", "--out", str(out), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PAPERS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_every_claim_holds_and_every_file_is_there(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = done.stdout.splitlines()
    assert len(verdicts) >= 30
    assert all(line.startswith("holds  ") for line in verdicts), done.stdout
    assert len(rows(tmp_path / "claims.csv")) == len(verdicts)
    assert all(rows(tmp_path / name) for name in TABLES)
    for name in FIGURES:
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert "<svg" in (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
    strategies = {row["strategy"] for row in rows(tmp_path / "experiment_1.csv")}
    assert {"identity", "binary_tree", "boost", "privelet", "prefix"} <= strategies


def in_blocks() -> Callable[..., Measurement]:
    """Return a `MatrixMechanism.noisy` that draws the noise of 500 measurements at once: the same noise, sooner."""
    blocks: dict[int, tuple[MatrixMechanism, Variance, list[np.ndarray]]] = {}

    def noisy(self: MatrixMechanism, exact: np.ndarray, *, rng: rng.Generator) -> Measurement:
        if id(self) not in blocks:
            blocks[id(self)] = (self, self.variance, [])
        _, variance, left = blocks[id(self)]
        if not left:
            pairs = zip(self.noises, self.parts, strict=True)
            drawn = [noise.sample(500 * part.rows, rng=rng).reshape(500, part.rows) for noise, part in pairs]
            left += list(np.concatenate(drawn, axis=1))
        return Measurement(map=self.strategy.map, answers=exact + left.pop(), variance=variance)

    return noisy


@pytest.mark.slow
def test_a_wrong_prediction_fails_for_every_strategy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, without the figures."""
    monkeypatch.syspath_prepend(str(PAPERS))
    script = load("ranges")
    monkeypatch.setattr(script, "draw", lambda *_: None)
    monkeypatch.setattr(MatrixMechanism, "noisy", in_blocks())
    monkeypatch.setattr(sys, "argv", ["ranges.py", "--quick", "--out", str(tmp_path), "--scale-predicted", "1.5"])
    assert script.main() == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("FAILS")]
    measured = rows(tmp_path / "experiment_1.csv")
    for name in {row["strategy"] for row in measured}:
        assert any(line.startswith(f"FAILS  experiment 1, {name}: measured") for line in failed)
    assert any(line.startswith("FAILS  experiment 2, all strategies") for line in failed)
    assert all("experiment" in line for line in failed)
    ratios = [float(row["measured_all_runs"]) / float(row["predicted"]) for row in measured]
    assert np.mean(ratios) == pytest.approx(1 / 1.5, abs=0.03)  # it is the planted fault that fails, and nothing else


@pytest.mark.parametrize("cells", [1, 2, 4, 16])
@pytest.mark.parametrize("kind", [BinaryTree, Privelet])
def test_all_ranges_at_once_are_the_ranges_one_by_one(kind: type, cells: int) -> None:
    answers = load("range_answers")
    mechanism = MatrixMechanism(strategy=kind(cells), loss=PureDP(epsilon=1))
    noisy = mechanism.measure(np.zeros(cells, dtype=np.int64), rng=rng.seeded(cells))
    ranges = [Range(left, right) for left in range(1, cells + 1) for right in range(left, cells + 1)]
    single = [mechanism.strategy.decoder.answer(noisy, [one.weights(cells)]) for one in ranges]
    assert np.allclose(answers.range_errors(mechanism, [noisy], ranges)[0], single, atol=1e-9)
    assert np.isclose(answers.all_ranges_mse(mechanism, noisy), np.mean(np.square(single)))


NOISES = [DiscreteLaplace(scale=Fraction(scale)) for scale in (1, 3, 11, 1024)]
NOISES += [DiscreteGaussian(sigma2=Fraction(sigma2)) for sigma2 in (4, 10, 1000)]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_one_noise_value_is_the_worst_case(noise: DiscreteLaplace | DiscreteGaussian) -> None:
    """E e^2p <= mu_2p holds term by term if a_j a_k <= a_(j+k), a_k = mu_2k k! / (2k)!."""
    logs = load("tolerance").log_moments(noise)
    orders = np.arange(len(logs))
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, 2 * len(logs))))])
    a = logs + factorials[orders] - factorials[2 * orders]
    for j in orders:
        assert np.all(a[j] + a[: len(a) - j] <= a[j:] + 1e-6)


def test_moments_of_laplace_noise_are_the_textbook_ones() -> None:
    logs = load("tolerance").log_moments(DiscreteLaplace(scale=Fraction(1024)))
    assert np.allclose(np.exp(logs[:4]), [1, 1, 6, 90], rtol=1e-3)


@pytest.mark.slow
def test_the_tolerance_is_kept_by_the_worst_case_and_shrinks_with_the_runs() -> None:
    noise, alarm, repeats = DiscreteLaplace(scale=Fraction(8)), 0.01, 2000
    tolerance = load("tolerance").tolerance
    widths = []
    for runs in (200, 1000):
        within = tolerance([noise], runs, alarm)
        draws = noise.sample(repeats * runs, rng=rng.seeded(runs)).astype(np.float64)
        means = (draws**2 / noise.variance).reshape(repeats, runs).mean(axis=1)
        outside = sum(not within.holds(mean) for mean in means)
        assert outside <= 60  # 20 expected at most; more than 60 has a chance below 1e-11
        widths.append(within.high - within.low)
    assert widths[1] < widths[0]
