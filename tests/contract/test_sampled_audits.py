"""Every method's running code is audited by samples, which find noise that is too small, and a lower threshold."""

from typing import Any

import numpy as np
import pytest

from dpress import catalog
from dpress.audit import reports, run, sampled
from dpress.audit.beside import beside
from dpress.audit.verdict import Check
from dpress.core.basics import rng
from dpress.core.basics.claim import Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.approximate import ApproxDP
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.loss import Loss
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.methods.mechanism import Card
from dpress.mechanisms.selection import above_threshold
from dpress.mechanisms.selection.weighted_threshold_audit import COARSE
from dpress.noise import choose, choose_each
from dpress.noise.gaussian import DiscreteGaussian
from dpress.noise.laplace import DiscreteLaplace
from dpress.noise.tabulated import Tabulated

LOSSES = (PureDP(epsilon=1), ZCDP(rho="0.5"), GaussianDP(mu2=1), ApproxDP(epsilon=1, delta="1e-6"))
FALSE_ALARM = 1e-6  # of each check: an audit's alpha in the place of its 1 %
FACTOR = 16
SLOW = {
    "approximate_quantiles", "bounds_from_outside", "discovered_groups", "dp_prototypes", "gaussian_threshold",
    "graphical", "group_quantiles", "insensitive_microaggregation", "partition_selection", "private_bounds",
    "quantile_cells", "weighted_rounds", "weighted_threshold",
}  # fmt: skip
LOWER = {"weighted_threshold": 3 * COARSE, "weighted_rounds": 6 * COARSE}  # in weights of persons: each adds so much


def served(card: Card) -> list[Loss]:
    """The losses of which something is proven."""
    found: list[Loss] = []
    for loss in LOSSES:
        try:
            made = card.example(loss, Unit())
        except NotSupported:
            continue
        if getattr(made, "claim", None) is None or made.claim.proven is not None:
            found.append(loss)
    return found


CASES = [
    pytest.param(card, loss, marks=pytest.mark.slow if card.name in SLOW else (), id=f"{card.name}-{loss}")
    for card in catalog.cards().values()
    for loss in served(card)
]
CENTRAL = [case for case in CASES if case.values[0].model == "central"]
LOCAL = [case for case in CASES if case.values[0].model == "local"]
NAMES = [case for case in CASES if isinstance(case.values[1], ApproxDP)]


@pytest.fixture(autouse=True)
def _samples_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact checks of tables are made elsewhere."""
    monkeypatch.setattr(run, "units", list)


def drawn(card: Card, loss: Loss, samples: int = 1000) -> list[Check]:
    """The checks of samples; a method that has none is not audited as it runs."""
    return [one for one in run.audit(card, loss, samples=samples, rng=rng.seeded(5)).checks if one.samples]


@pytest.mark.parametrize(("method", "loss"), CASES)
def test_every_method_is_sampled_and_the_words_promise_no_proof(
    method: Card, loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled, "ALPHA", FALSE_ALARM)
    found = drawn(method, loss)
    assert found
    assert all(one.kept for one in found)
    assert {(one.kind, one.verdict, one.loss) for one in found} == {
        ("sampled events", "not contradicted by 1,000 samples", None)
    }


def too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise is a sixteenth of what is stated, and choices and coins are as sure."""
    inside: list[int] = []

    def divided(kind: Any) -> None:
        honest = kind.sample

        def sample(self: Any, size: int, *, rng: Any) -> Any:
            if inside:  # a sampler that another one proposes by
                return honest(self, size, rng=rng)
            inside.append(1)
            try:
                return np.trunc(honest(self, size, rng=rng) / FACTOR).astype(np.int64)
            finally:
                inside.pop()

        monkeypatch.setattr(kind, "sample", sample)

    for kind in (DiscreteLaplace, DiscreteGaussian, Tabulated):
        divided(kind)
    exponents, flipped = choose._exponents, choose_each._flipped
    monkeypatch.setattr(choose, "_exponents", lambda scores, epsilon, size: exponents(scores, epsilon * FACTOR, size))
    monkeypatch.setattr(choose_each, "_flipped", lambda gaps, rate, *, rng: flipped(gaps, rate * FACTOR, rng=rng))


@pytest.mark.parametrize(("method", "loss"), CENTRAL)
def test_noise_that_is_too_small_is_found(method: Card, loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    too_small(monkeypatch)
    assert not all(one.kept for one in drawn(method, loss))


@pytest.mark.parametrize(("method", "loss"), LOCAL)
def test_a_device_that_always_says_the_same_of_one_value_is_found(
    method: Card, loss: Loss, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = method.example(loss, Unit())
    sent = reports.sent if (module := beside(example)) is None else module.sent
    oracles = [oracle for _, oracle in sent(example)] if hasattr(example, "types") or module else [example]
    for kind in {type(getattr(own, "oracle", own)) for own in oracles}:
        honest = kind.perturb

        def perturb(self: Any, values: Any, *, rng: Any, honest: Any = honest) -> Any:
            out, codes = honest(self, values, rng=rng), np.asarray(values)
            first = codes == 0 if codes.ndim == 1 else (codes == 0).all(axis=0)
            out[first] = fixed(honest, self, codes)
            return out

        monkeypatch.setattr(kind, "perturb", perturb)
    assert not all(one.kept for one in drawn(method, loss, 4000))


def fixed(honest: Any, oracle: Any, codes: Any) -> Any:
    """What a device says of the first value, and never anything else."""
    return honest(oracle, np.zeros_like(codes[..., :1]), rng=rng.seeded(1))[0]


@pytest.mark.parametrize(("method", "loss"), NAMES)
def test_a_threshold_that_is_lower_by_three_is_found(method: Card, loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    honest, lower = above_threshold.released, LOWER.get(method.name, 3)
    monkeypatch.setattr(
        above_threshold,
        "released",
        lambda names, noisy, threshold, total, *, rng: honest(names, noisy, threshold - lower, total, rng=rng),
    )
    found = drawn(method, loss, 8000)
    assert not all(one.kept for one in found if one.instance == "a name that nobody else has")
