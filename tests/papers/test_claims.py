"""Verdicts: what holds is held, a planted violation is not, and what too few runs cannot tell is left open."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PAPERS = ("ranges", "joint", "spatial", "microdata")


@pytest.fixture(scope="module")
def claims(papers: Callable[[str], ModuleType]) -> ModuleType:
    return papers("claims")


def quantities() -> ModuleType:
    return sys.modules["quantities"]  # which the claims import


def claim(claims: ModuleType, quantity: Any, band: Any, violation: float | tuple[float, ...], **more: Any) -> Any:
    fixed = {"key": "a", "whose": "document", "words": "it is so", "place": "section 1"}
    return claims.Claim(**(fixed | more), quantity=quantity, band=band, violation=violation)


def about_four(claims: ModuleType, **more: Any) -> Any:
    quantity = quantities().ratio("rival", "own", "error", by=("data",))
    return claim(claims, quantity, claims.about(4), 9.6, **more)


def rows(ratios: list[float], **more: Any) -> list[dict[str, Any]]:
    both = [({"method": "rival", "error": ratio}, {"method": "own", "error": 1.0}) for ratio in ratios]
    return [one | {"data": "x", "run": run} | more for run, pair in enumerate(both) for one in pair]


def test_a_stated_number_is_a_band_with_two_ends(claims: ModuleType) -> None:
    one = about_four(claims)
    found = {value: claims.judge(one, claims.example(one, value)).kind for value in (2.9, 3.1, 4.9, 5.1, 9.6)}
    assert found == {2.9: claims.NOT, 3.1: claims.HELD, 4.9: claims.HELD, 5.1: claims.NOT, 9.6: claims.NOT}


def test_several_violations_must_all_be_told(claims: ModuleType) -> None:
    """One on either side of a band: with the nearer of them within the noise nothing is decided."""
    quantity = quantities().level("error", "error")
    table = {"errors": [{"error": value, "run": run} for run, value in enumerate((0.9, 1.0, 1.1))]}
    for violation, wanted in (((0.5, 2.0), claims.HELD), ((0.5, 1.2), claims.UNKNOWN), ((0.8, 2.0), claims.UNKNOWN)):
        found = claims.judge(claim(claims, quantity, claims.within(1, 0.1), violation), table)
        assert found.kind == wanted
    assert "3 runs would not tell 0.8 from what is claimed" in found.line


def test_too_few_runs_decide_nothing(claims: ModuleType) -> None:
    one = about_four(claims)
    wide = claims.judge(one, {"errors": rows([1.0, 9.0, 3.0])})
    assert wide.kind == claims.UNKNOWN
    assert "3 runs would not tell 9.6 from what is claimed" in wide.line
    assert claims.judge(one, {"errors": rows([4.0])}).kind == claims.UNKNOWN
    assert claims.judge(one, {"errors": rows([3.9, 4.0, 4.1])}).kind == claims.HELD
    assert claims.judge(one, {}).found == "no such setting was run"


def test_the_error_is_that_of_the_mean_over_runs(claims: ModuleType) -> None:
    values = [1.0, 2.0, 4.0, 7.0]
    table = [{"error": value, "run": run} for run, value in enumerate(values)]
    value, error, runs = claims.jackknife(lambda own: quantities().mean(own, "error"), table)
    assert (value, runs) == (3.5, 4)
    assert error == pytest.approx((sum((one - 3.5) ** 2 for one in values) / 3 / 4) ** 0.5)


def test_a_verdict_names_the_axis_that_it_depends_on_and_shows_both_sides(claims: ModuleType) -> None:
    one = about_four(claims, axis="domain")
    table = rows([2.0, 2.1, 2.2], domain=32) + rows([4.0, 4.1, 4.2], domain=64)
    found = claims.judge(one, {"errors": table})
    assert found.words == "depends on domain"
    assert "domain 32: 2.1 +- 0.058, did not hold; domain 64: 4.1 +- 0.058, held" in found.line
    undecided = rows([2.0, 5.0, 8.0], domain=128)
    assert claims.judge(one, {"errors": table[6:] + undecided}).words == "held, in part undecided"


def test_a_stand_in_decides_nothing_and_every_line_says_so(claims: ModuleType) -> None:
    one = about_four(claims, data=("gowalla",))
    table = {"errors": rows([3.9, 4.0, 4.1])}
    assert claims.judge(one, table).kind == claims.HELD
    found = claims.judge(one, table, frozenset({"gowalla"}))
    assert found.kind == claims.UNKNOWN
    assert "made-up stand-in" in found.line


def test_what_cannot_be_checked_says_why(claims: ModuleType) -> None:
    found = claims.judge(about_four(claims, blocked="the image is lost"), {"errors": rows([4.0, 4.1])})
    assert (found.kind, found.found) == (claims.UNKNOWN, "the image is lost")


def test_shares_and_steps_count_settings(claims: ModuleType) -> None:
    between = quantities().share(
        "LREMH between", lambda own: own["lasso"] <= own["lremh"] <= own["em"], "error",
        by=("k", "f"), yes={"lasso": 1, "lremh": 2, "em": 3}, no={"lasso": 3, "lremh": 2, "em": 1},
    )  # fmt: skip
    falls = quantities().steps("falls", "sse", "epsilon", sign=-1, by=("d",))
    for quantity in (between, falls):
        one = claim(claims, quantity, claims.at_least(0.8), 0.5)
        assert [claims.judge(one, claims.example(one, value)).kind for value in (1, 0.8, 0.7, 0.5)] == [
            claims.HELD, claims.HELD, claims.NOT, claims.NOT,
        ]  # fmt: skip


def test_an_identity_fails_when_its_figure_is_one_percent_another(claims: ModuleType) -> None:
    good = claims.identity("sum", "2 + 2 = 4", "section 1", lambda factor: abs(2 + 2 - 4 * factor), 1e-12)
    bad = claims.identity("sum", "2 + 2 = 5", "section 1", lambda factor: abs(2 + 2 - 5 * factor), 1e-12)
    blind = claims.identity("sum", "nothing", "section 1", lambda _: 0.0, 1e-12)
    for one, wanted in ((good, claims.HELD), (bad, claims.NOT), (blind, claims.UNKNOWN)):
        assert claims.judge(one, {"identities": claims.computed([one])}).kind == wanted


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_can_hold_and_can_fail(paper: str, papers: Callable[[str], ModuleType], claims: ModuleType) -> None:
    """On made-up rows with a figure in the band, and with the violation that the claim names."""
    every = papers(f"{paper}_claims").claims()
    assert len({one.key for one in every}) == len(every)
    for one in every:
        if one.blocked:
            assert claims.judge(one, {}).kind == claims.UNKNOWN
            continue
        inside = one.band.low if one.band.high == float("inf") else one.band.high
        for value in (inside, *one.violations):
            found = claims.judge(one, claims.example(one, value))
            assert found.kind == (claims.HELD if value == inside else claims.NOT), one.key
            assert one.whose == "identity" or found.figures[0].value == pytest.approx(value, abs=0.011), one.key
