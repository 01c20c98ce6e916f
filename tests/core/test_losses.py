"""A loss is asked, never recognised: one that no file of the package names goes through arithmetic, noise and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

import dpress
from dpress.catalog import card
from dpress.core.basics.claim import ROW, Claim, Relation, Unit
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.any_loss import additive, as_floats, composed, describe, parameters, part_of, power_of
from dpress.core.basics.losses.approximate import ApproxDP, approximate
from dpress.core.basics.losses.loss import Amounts, Loss
from dpress.core.basics.losses.pure import PureDP, pure
from dpress.core.basics.losses.read import LOSSES
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.ranges import AllRanges
from dpress.core.maps.workload import Boxes
from dpress.ledger.compose import Charge, cost, fits, group, total
from dpress.mechanisms.choice.approximate_quantiles import ApproximateQuantiles
from dpress.mechanisms.linear.hierarchy import Hierarchy
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.noise.distribution import calibrated
from dpress.noise.gaussian import DiscreteGaussian
from dpress.reporting.posterior import posterior

ASKED = {name for name in vars(Loss) if not name.startswith("_")}
SOURCE = Path(dpress.__file__).parent
WHERE_USERS_GIVE_IT = {"ledger/ledger.py"}
"""Files that may tell losses from what is none."""


@dataclass(frozen=True)
class Doubled:
    """A toy: zCDP stated as xi = 2 rho, so that the noise's variance is s / xi.

    Args:
        xi: any fraction above 0.
    """

    xi: Fraction

    form = "doubled"
    variant = "Doubled DP"
    definition = "The Rényi divergence of order α is at most ξα/2."
    for_groups = "g² ξ allows, where ξ"
    for_contents = "ξ counts fourfold, {}"
    names = ("xi",)
    additive = True
    delta = Fraction(0)
    tail = "gaussian"
    order = 2
    choosing = "the exponential mechanism"
    pays = "rho or epsilon"
    needs_delta = True
    as_epsilon = None
    as_mu2 = None

    @property
    def _rho(self) -> ZCDP:
        return ZCDP(rho=self.xi / 2)

    @property
    def amount(self) -> Fraction:
        return self.xi / 2

    @property
    def as_rho(self) -> Fraction:
        return self.xi / 2

    @property
    def replaced(self) -> Fraction:
        return 4 * self.xi

    @property
    def payable(self) -> tuple["Doubled"]:
        return (self,)

    def of(self, amount: Fraction) -> "Doubled":
        return Doubled(2 * amount)

    def spread(self, sensitivity: Fraction) -> Fraction:
        return sensitivity / self.xi

    def cost(self, spread: Fraction, sensitivity: Fraction) -> Fraction:
        return sensitivity / (2 * spread)

    def choice_range(self, choices: int, steps: int) -> Fraction:
        return self._rho.choice_range(choices, steps)

    def choice_cost(self, width: Fraction) -> Fraction:
        return self._rho.choice_cost(width)

    def together(self, others: Sequence["Doubled"]) -> "Doubled":
        return Doubled(self.xi + sum(loss.xi for loss in others))

    def group(self, size: int) -> "Doubled":
        return Doubled(size * size * self.xi)

    def price(self, loss: Loss) -> Amounts | None:
        return None if loss.as_rho is None else {"xi": 2 * loss.as_rho}

    def fixed(self, losses: Sequence[Loss]) -> Amounts:
        return {"xi": 0 * Fraction(len(losses))}

    def at(self, delta: Fraction) -> tuple[Fraction, Fraction]:
        return self._rho.at(delta)


LOSS = Doubled(Fraction(1))


def missing(kind: type) -> set[str]:
    """Return what a class does not answer that a loss is asked."""
    return ASKED - set(dir(kind))


@pytest.mark.parametrize("kind", [*LOSSES, Doubled])
def test_a_loss_answers_what_it_is_asked(kind: type) -> None:
    assert missing(kind) == set()


@pytest.mark.parametrize("kind", LOSSES)
def test_a_loss_has_nothing_that_only_this_one_is_asked(kind: type) -> None:
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert public - ASKED == set(kind.names) - ASKED


@pytest.mark.parametrize("name", sorted(ASKED))
def test_a_loss_that_lacks_an_answer_is_found(name: str) -> None:
    members = {own: value for own, value in vars(Doubled).items() if own in ASKED - {name}}
    assert missing(type("Lacking", (), members)) == {name}


def test_a_new_loss_adds_up_and_is_shared_out() -> None:
    assert composed([LOSS, part_of(LOSS, Fraction(1, 4))]) == Doubled(Fraction(5, 4))
    assert group(LOSS, 3) == Doubled(Fraction(9))
    assert additive(LOSS, "noise is") is LOSS
    assert power_of(LOSS) == 1
    with pytest.raises(ValueError, match="only losses of one kind add up"):
        composed([LOSS, ZCDP(rho=1)])
    with pytest.raises(NotSupported, match="is no epsilon"):
        pure(LOSS, "is no epsilon")
    with pytest.raises(NotSupported, match="has no delta"):
        approximate(LOSS, "has no delta")


def test_a_new_loss_has_its_noise_and_its_claim() -> None:
    assert calibrated(LOSS, Fraction(6)) == DiscreteGaussian(sigma2=Fraction(6))
    for relation in Relation:
        mechanism = MatrixMechanism(strategy=Hierarchy(9, 3), loss=LOSS, unit=Unit(relation=relation))
        same = MatrixMechanism(strategy=Hierarchy(9, 3), loss=ZCDP(rho="1/2"), unit=Unit(relation=relation))
        assert mechanism.noises == same.noises
        assert mechanism.tail == "gaussian"
        assert mechanism.claim == Claim(published=LOSS, proven=LOSS, unit=mechanism.unit, basis=same.claim.basis)


def test_a_new_loss_has_its_strategy_and_its_choice() -> None:
    workload = Boxes((AllRanges(64),))
    for name in ("hierarchy", "dst"):
        strategy = card(name).strategy
        assert strategy is not None
        assert strategy(workload, LOSS) == strategy(workload, ZCDP(rho="1/2"))
    made = [ApproximateQuantiles(quantiles=(Fraction(1, 2),), loss=loss) for loss in (LOSS, ZCDP(rho="1/2"))]
    assert made[0].epsilon == made[1].epsilon
    assert made[0].claim.proven == LOSS.of(made[1].claim.proven.rho)


def test_a_new_loss_has_its_words() -> None:
    assert describe(LOSS) == "xi = 1"
    assert as_floats(LOSS) == {"xi": 1.0}
    assert parameters(LOSS) == {"xi": Fraction(1)}


def test_a_new_loss_is_paid_for_and_pays() -> None:
    assert total([Charge(loss=LOSS), Charge(loss=ZCDP(rho=1))], ZCDP(rho=2), ROW) == {"rho": Fraction(3, 2)}
    assert cost(PureDP(epsilon=1), LOSS) == {"xi": Fraction(1)}
    assert fits(total([Charge(loss=LOSS)], LOSS, ROW), LOSS)
    limit = ApproxDP(epsilon=10, delta="1e-6")
    assert total([Charge(loss=LOSS)], limit, ROW) == total([Charge(loss=ZCDP(rho="1/2"))], limit, ROW)
    with pytest.raises(ValueError, match="pays only for losses in epsilon, got xi = 1"):
        cost(LOSS, PureDP(epsilon=1))
    assert posterior(LOSS) == posterior(ZCDP(rho="1/2"))


def recognised(text: str) -> bool:
    """Say whether a source asks which loss it holds."""
    return any("isinstance(" in line and any(kind.__name__ in line for kind in LOSSES) for line in text.splitlines())


def test_no_file_asks_which_loss_it_is() -> None:
    asking = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if recognised(path.read_text())}
    assert asking - WHERE_USERS_GIVE_IT == set()


def test_a_file_that_asks_is_found() -> None:
    assert recognised("if not isinstance(loss, PureDP | ZCDP):\n    return None\n")
