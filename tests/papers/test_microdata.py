"""The document on mixed microdata: its measures, its counter-examples, and that no line of ours passes a control."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpress.attributes.mixed import example
from dpress.core.basics import rng

CODES = np.array([[0, 1, 2, 3, 4], [0, 1, 2, 0, 1]], dtype=np.int32)


@pytest.fixture
def methods(papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The measures over five records of a number and a category."""
    found = papers("microdata_methods")
    monkeypatch.setattr(found, "adult", lambda _: (CODES, example()))
    return found


@pytest.mark.parametrize("method", ["mdav", "mixture"])
def test_the_truth_has_no_error_and_a_wrong_value_has_its_square(methods: ModuleType, method: str) -> None:
    def found(records: Any) -> Any:
        return methods.measured(2, method, records, rng.seeded(1))

    exact = found(CODES)
    assert (exact.aligned or 0.0, exact.matched, exact.two_way) == (0.0, 0.0, 0.0)
    assert (exact.aligned is None) == (method == "mixture")  # in no order
    wrong = CODES.copy()
    wrong[1, 4] = 0
    assert (found(wrong).aligned or 1.0) == pytest.approx(1.0)
    assert found(wrong).matched == pytest.approx(1.0)
    assert found(wrong).two_way == pytest.approx(1 / 5)


def test_matched_is_a_lower_bound_and_forgives_what_aligned_does_not(methods: ModuleType) -> None:
    turned = CODES[:, ::-1]
    found = methods.measured(2, "mdav", turned, rng.seeded(1))
    assert found.aligned > 2
    assert found.matched == 0


def test_linkage_is_one_for_the_truth_and_a_guess_for_a_constant(methods: ModuleType) -> None:
    assert methods.linkage(2, CODES, rng.seeded(1), 10) == 100
    constant = methods.METHODS["constant record"](2, 0, "", rng.seeded(1))
    assert np.unique(constant, axis=1).shape[1] == 1
    assert methods.linkage(2, constant, rng.seeded(1), 10) == pytest.approx(20)


def test_permuted_columns_keep_every_column_and_lose_what_two_have_together(
    papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    methods = papers("microdata_methods")
    side = np.repeat([0, 1], 500).astype(np.int32)
    codes = np.stack([4 * side, side])
    monkeypatch.setattr(methods, "adult", lambda _: (codes, example()))
    made = methods.METHODS["permuted columns"](2, 0, "", rng.seeded(2))
    np.testing.assert_array_equal(np.sort(made, axis=1), np.sort(codes, axis=1))
    assert methods.two_way(example(), codes, made) == pytest.approx(0.5, abs=0.1)


def test_a_records_values_cost_as_many_epsilons_as_there_are(methods: ModuleType) -> None:
    assert methods.composed(2) == pytest.approx(2)


def test_the_error_of_a_clusters_mean_averages_out(
    papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of noise that every record has of its own; noise that all records share, the control, stays what it is."""
    methods = papers("microdata_methods")
    kinds = methods.columns([methods.Integer(name="x", bounds=(0, 2000))])
    codes = np.full((1, 400), 1000, dtype=np.int32)
    monkeypatch.setattr(methods, "adult", lambda _: (codes, kinds))
    groups = np.repeat(np.arange(4), 100).astype(np.int32)
    own = methods.around(1, groups, "0.1", rng.seeded(1))
    assert methods.averaged(1, groups, own, "0.1") < 0.3
    deviation = round(np.sqrt(2) * 2000 / 100 / 0.1)
    assert methods.averaged(1, groups, codes + deviation, "0.1") == pytest.approx(1, rel=0.01)


def test_permuted_columns_or_a_constant_in_place_of_ours_pass_no_line(papers: Callable[[str], ModuleType]) -> None:
    claims, own = papers("claims"), papers("microdata_claims")
    lines = [one for one in own.claims() if one.whose == "dpress" and "less the least" in one.quantity.words]
    assert len(lines) > 10
    for one in lines:
        whose = one.quantity.where["method"][0]
        rows = claims.example(one, -0.5)["errors"]
        assert claims.judge(one, {"errors": rows}).kind == claims.HELD
        for control in own.CONTROLS:
            errors = {row["method"]: row for row in rows if row["run"] == 0}
            if control not in errors:
                continue
            column = next(name for name in ("two_way", "matched", "aligned") if name in rows[0])
            planted = [
                row | {column: errors[control][column]} if row["method"] == whose else row for row in rows
            ]  # what the control has, under the name of ours
            assert claims.judge(one, {"errors": planted}).kind == claims.NOT, one.key


def test_figures_of_two_measures_are_never_compared(papers: Callable[[str], ModuleType]) -> None:
    own, methods = papers("microdata_claims"), papers("microdata_methods")
    for one in own.claims():
        used = one.quantity.where.get("method", ())
        unordered = set(used if isinstance(used, tuple) else (used,)) & set(methods.UNORDERED)
        assert not (unordered and "aligned" in one.quantity.words), one.key


def test_replaced_records_move_others_from_the_same_first_prototypes(
    papers: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, methods = papers("microdata_replaced"), papers("microdata_methods")
    words = rng.seeded(3).words(1200).reshape(2, 600)
    kinds = methods.columns([methods.Integer(name="x", bounds=(0, 99)), methods.Integer(name="y", bounds=(0, 99))])
    codes = (words % np.uint64(60)).astype(np.int32)
    monkeypatch.setattr(module, "adult", lambda _: (codes, kinds))
    found = [module.replaced(2, 12, run) for run in range(12)]
    assert sum(one["moved_others"] for one in found) > 2
    assert max(one["times"] for one in found) > 1
    lone = [module.replaced(2, 1, run) for run in range(3)]  # the control: one cluster moves nobody, and by at most 1
    assert [one["others"] for one in lone] == [0, 0, 0]
    assert max(one["times"] for one in lone) <= 1


def test_linkage_is_judged_over_k_at_eight_attributes_and_no_figure_of_four_stands_among_them(
    papers: Callable[[str], ModuleType],
) -> None:
    claims, own = papers("claims"), papers("microdata_claims")
    lines = {one.key: one for one in own.claims() if one.key.startswith("linkage")}
    assert {key: one.quantity.where["d"] for key, one in lines.items()} == dict.fromkeys(lines, 8)
    assert len(lines) == 3
    rows = claims.example(lines["linkage_rises_with_k"], 0.9)["errors"]
    assert claims.judge(lines["linkage_rises_with_k"], {"errors": rows}).kind == claims.HELD
    level = [row | {"linkage": 1.0} for row in rows]
    assert claims.judge(lines["linkage_rises_with_k"], {"errors": level}).kind == claims.NOT
    four = [row | {"d": 4, "linkage": 1000.0 if row["k"] == 3 else 1.0} for row in rows]  # must not be looked at
    assert claims.judge(lines["linkage_rises_with_k"], {"errors": [*rows, *four]}).kind == claims.HELD
