"""Our prices against Google's dp-accounting: golden vectors made by tests/golden/make_accounting.py."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest

from dpress.core.basics.claim import Unit
from dpress.core.basics.losses.convert import epsilon_for
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.compose import Charge, total

pytestmark = pytest.mark.slow

GOLDEN = msgspec.json.decode((Path(__file__).parents[1] / "golden" / "accounting.json").read_bytes())


def assert_between(convert: Callable[[str, str], Fraction]) -> None:
    """At most Google's Renyi accountant; at least the exact Gaussian, which any valid conversion must allow for."""
    for vector in GOLDEN["conversions"]:
        epsilon = float(convert(vector["rho"], vector["delta"]))
        assert epsilon >= vector["gaussian"] - 1e-9, vector
        assert epsilon <= vector["renyi"] + 1e-9, vector


def test_the_golden_file_is_what_it_says() -> None:
    assert GOLDEN["made_by"].startswith("dp-accounting ")
    assert len(GOLDEN["conversions"]) >= 50
    for vector in GOLDEN["conversions"]:
        assert vector["gaussian"] - 1e-9 <= vector["pld"] <= vector["gaussian"] + 2e-5


def test_zcdp_conversion_lies_between_googles_bounds() -> None:
    assert_between(epsilon_for)


@pytest.mark.parametrize("factor", [Fraction(95, 100), Fraction(105, 100)])
def test_a_planted_conversion_5_percent_off_is_caught(factor: Fraction) -> None:
    with pytest.raises(AssertionError):
        assert_between(lambda rho, delta: epsilon_for(rho, delta) * factor)


def assert_sums(discount: Fraction) -> None:
    """Google's privacy loss distribution of randomised responses at delta = 0, up to its grid of 1e-4 a mechanism."""
    for vector in GOLDEN["pure_sums"]:
        charges = [Charge(loss=PureDP(epsilon=epsilon)) for epsilon in vector["epsilons"]]
        ours = float(total(charges, PureDP(epsilon=1000), Unit())["epsilon"] * discount)
        assert ours - 1e-9 <= vector["total"] <= ours + 1e-4 * len(charges) + 1e-9, vector


def test_pure_sums_are_googles() -> None:
    assert_sums(Fraction(1))


def test_a_planted_sum_5_percent_too_low_is_caught() -> None:
    with pytest.raises(AssertionError):
        assert_sums(Fraction(95, 100))
