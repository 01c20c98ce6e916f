"""`lremh` as published, and the three estimators on the document's real tables."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpress.core.basics import rng
from dpress.inference.joint.bit_evidence import BitEvidence, one_hot
from dpress.inference.joint.likelihood import Fold, Split, in_memory
from dpress.mechanisms.joint.documents.em import Em
from dpress.mechanisms.joint.documents.lasso import Lasso
from dpress.mechanisms.joint.documents.lremh import Lremh
from dpress.mechanisms.joint.early_stop import independent, regularised
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.rappor import Rappor

pytest.importorskip("sklearn")
PLACE = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[4] / "shared" / "data"))
ADULT = {"education_num": 16, "marital_status": 7, "relationship": 6, "race": 5, "sex": 2}
NLTCS = {f"x{number:02d}": 2 for number in range(4)}


def distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).sum() / 2)


def collected(
    codes: np.ndarray, sizes: tuple[int, ...], f: str
) -> tuple[Fold, list[BitEvidence], list[np.ndarray], np.ndarray]:
    """The fold, the evidence, the tallies and the truth of one report a person."""
    oracle = RrLdp(sizes=sizes, f=Fraction(f))
    rates = {"q_star": float(oracle.responses.q_star), "p_star": float(oracle.responses.p_star)}
    payloads = oracle.perturb(codes, rng=rng.seeded(1))
    strings = np.unpackbits(payloads, axis=1, count=oracle.bits, bitorder="little")
    parts = np.split(strings, np.cumsum(sizes)[:-1], axis=1)
    evidence = [one_hot(size, **rates) for size in sizes]
    pairs = list(zip(evidence, parts, strict=True))
    fold = in_memory(Split(sizes).halves([own.likelihoods(part) for own, part in pairs]))
    truth = np.bincount(np.ravel_multi_index(tuple(codes), sizes), minlength=int(np.prod(sizes))) / codes.shape[1]
    return fold, evidence, [own.tally(part) for own, part in pairs], truth


def real(name: str, columns: dict[str, int]) -> tuple[np.ndarray, tuple[int, ...]]:
    if not (PLACE / name).exists():
        pytest.skip(f"no reference data in {PLACE}; set DPRESS_DATA to run this test")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pq.read_table(PLACE / name, columns=list(columns))
    return np.stack([np.asarray(table[column]).astype(np.int32) for column in columns]), tuple(columns.values())


@pytest.mark.slow
def test_candidates_that_lasso_drops_stay_dropped() -> None:
    first = (np.arange(4000) % 20 == 0).astype(np.int32)
    codes, sizes = np.stack([first, 2 * first, first]), (3, 3, 2)
    fold, evidence, tallies, _ = collected(codes, sizes, "0.1")
    start = Lasso().estimate(evidence, tallies)
    fit = Lremh(em=Em(delta=1e-6)).estimate(fold, Split(sizes), evidence, tallies)
    assert (start == 0).any()
    assert (fit.table[start == 0] == 0).all()
    assert fit.table.sum() == pytest.approx(1)
    same = Em(delta=1e-6).estimate(fold, Split(sizes), start)
    assert np.array_equal(fit.table, same.table)


def test_no_candidate_left_is_refused() -> None:
    own = one_hot(2, q_star=0.75, p_star=0.5)
    nothing = np.array([[0, 0, 100]])
    with pytest.raises(ValueError, match="dropped every candidate"):
        Lremh().estimate(in_memory(Split((2,)).halves([np.ones((3, 2))])), Split((2,)), [own], [nothing])


def test_bloom_filters_of_candidate_strings_are_estimated_too() -> None:
    """A RAPPOR string and a one-hot attribute that always goes with it: the joint, not only the one-way tables."""
    users, oracle = 6000, Rappor(candidates=("a", "b", "c"), f=Fraction(1, 10), p=Fraction(1, 4), bits=16, cohorts=4)
    codes = (np.arange(users) % 3).astype(np.int32)
    payloads = oracle.perturb(codes, rng=rng.seeded(3))
    cohorts = payloads[:, 0] + 256 * payloads[:, 1].astype(np.int64)
    bits = np.unpackbits(payloads[:, 2:], axis=1, count=16, bitorder="little")
    q_star, p_star = float(oracle.responses.q_star), float(oracle.responses.p_star)
    bloom = BitEvidence(design=oracle.blooms, q_star=q_star, p_star=p_star)
    other = RrLdp(sizes=(3,), f=Fraction(1, 10), p=Fraction(1, 4))
    strings = np.unpackbits(other.perturb(codes, rng=rng.seeded(4)), axis=1, count=3, bitorder="little")
    second = one_hot(3, q_star=q_star, p_star=p_star)
    split = Split((3, 3))
    fold = in_memory(split.halves([bloom.likelihoods(bits, cohorts), second.likelihoods(strings)]))
    truth = np.eye(3).ravel() / 3
    tallies = [bloom.tally(bits, cohorts), second.tally(strings)]
    product = independent([np.full(3, 1.0)] * 2)
    assert distance(regularised(fold, split, product).maximum.table, truth) < 0.1 < distance(product, truth)
    start = Lasso().estimate([bloom, second], tallies).reshape(3, 3)
    assert np.allclose(start.sum(axis=1), 1 / 3, atol=0.08)
    assert Lremh().estimate(fold, split, [bloom, second], tallies).table.sum() == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "columns", "f", "figures"),
    [
        ("adult/adult_privbayes_45222.parquet", ADULT, "0.1", {"em": 0.876, "lasso": 0.718, "lremh": 0.716}),
        ("nltcs/nltcs.parquet", NLTCS, "0.5", {"em": 0.31, "lasso": 0.15, "lremh": 0.15}),
    ],
)
def test_the_documents_figures(name: str, columns: dict[str, int], f: str, figures: dict[str, float]) -> None:
    """One draw of the noise; 21,574 people leave the estimates of NLTCS uncertain by some hundredths."""
    codes, sizes = real(name, columns)
    fold, evidence, tallies, truth = collected(codes, sizes, f)
    split = Split(sizes)
    found = {
        "em": Em().estimate(fold, split).table,
        "lasso": Lasso().estimate(evidence, tallies),
        "lremh": Lremh().estimate(fold, split, evidence, tallies).table,
    }
    for method, figure in figures.items():
        assert distance(found[method], truth) == pytest.approx(figure, abs=0.05), method
    product = independent([own.bit_shares(tally) for own, tally in zip(evidence, tallies, strict=True)])
    better = regularised(fold, split, product)
    assert better.maximum.gap <= 1e-4
    assert distance(better.fit.table, truth) < distance(product, truth)
