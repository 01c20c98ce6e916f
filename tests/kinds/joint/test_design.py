"""Which collections serve kind = "joint", and what is refused."""

import pytest
from tests.kinds.joint.whole_numbers import spec

from dpress import plan
from dpress.core.basics.errors import NotSupported


def test_auto_compares_pairs_triples_everything_at_once_and_bits():
    found = [(one.method, len(one.mechanism.types)) for one in plan(spec(2, 3, 4)).candidates]
    ways = [("pairs", 1), ("pairs", 3), ("rr_ldp", 1), ("subset_selection", 1)]
    assert sorted(found) == [("independent", 3), *ways]
    assert all(one.mechanism.claim.proven.epsilon <= 2 for one in plan(spec(2, 3, 4)).candidates)


@pytest.mark.parametrize("epsilon", [0.1, 1, 8])
def test_the_baseline_comes_last_and_is_only_chosen_by_name(epsilon):
    privacy = {"model": "local", "epsilon": epsilon}
    planned = plan(spec(2, 3, 4, privacy=privacy))
    *others, last = planned.candidates
    assert (last.method, last.assumes) == ("independent", "independent attributes")
    assert not any(one.assumes for one in others)
    assert planned.chosen is others[0]
    assert others == sorted(others, key=lambda one: one.predicted_error)
    assert epsilon > 1 or last.predicted_error < planned.chosen.predicted_error  # else there was nothing to resist
    named = plan(spec(2, 3, 4, privacy=privacy, method="independent"))
    assert named.chosen.predicted_error == pytest.approx(last.predicted_error)
    assert 0 < named.lower_bound < named.chosen.predicted_error
    assert plan(spec(2, 3, privacy=privacy, method="em")).candidates[-1].method == "independent"


def test_triples_that_are_too_large_leave_the_pairs():
    found = [one.mechanism.types for one in plan(spec(2000, 2000, 2000)).candidates if one.method == "pairs"]
    assert [len(questions) for questions in found] == [3]


def test_auto_leaves_many_triples_out():
    def asked(own):
        return [len(one.mechanism.types) for one in plan(own).candidates if one.method == "pairs"]

    assert sorted(asked(spec(*(2,) * 10))) == [45, 120]
    assert asked(spec(*(2,) * 11)) == [55]
    assert asked(spec(*(2,) * 11, ways=3)) == [165]


@pytest.mark.parametrize(
    ("sizes", "options", "wanted"),
    [
        ((5,), {}, "a joint distribution needs two attributes or more"),
        ((2, 3), {"foo": 1}, "unknown parameter 'foo' for a local collection of kind 'joint'; known: users"),
        ((2, 3), {"method": "pairs", "f": 0.5}, "unknown parameter 'f' for pairs"),
        ((2, 3), {"method": "em", "ways": 2}, "unknown parameter 'ways' for em"),
        ((2, 3), {"method": "rr_ldp", "reports": "rappor"}, "unknown parameter 'reports' for rr_ldp"),
        ((2, 3), {"reports": "rappor"}, "unknown parameter 'reports' for a local collection of kind 'joint'"),
        ((2, 3), {"method": "em", "reports": "bloom"}, 'reports: expected "rr_ldp" or "rappor", got \'bloom\''),
        ((2, 3), {"method": "em", "bits": 8}, 'parameters.bits: only with reports = "rappor"'),
        ((2, 9), {"method": "em", "reports": "rappor", "bits": 8}, "the 9 values of 'a1' apart; more bits are needed"),
        ((2, 3), {"method": "em", "reports": "rappor", "bits": 0}, "parameters.bits: expected an integer >= 1, got 0"),
        (
            (2, 3),
            {"method": "em", "reports": "rappor", "hashes": "2"},
            "parameters.hashes: expected an integer from 1 to 1024, got '2'",
        ),
        ((2, 3), {"method": "em", "reports": "rappor", "bits": 1 << 12}, "a report of 8,192 bits is too long to count"),
        ((2, 3), {"method": "em", "reports": "rappor", "f": 0.1, "p": 0.1, "q": 0.9}, r"more than epsilon = 2"),
        ((2, 3), {"ways": 2, "f": 0.5}, "set either `ways`"),
        ((2, 3), {"ways": 1}, "ways: expected an integer >= 2, got 1"),
        ((2, 3), {"ways": 3}, "expected at most 2, got 3"),
        ((2,) * 24, {"ways": 8}, "735,471 sets of 8 attributes, more than 1,000"),
        ((2,) * 100, {}, "more than 1,000 pairs"),
        ((30,) * 6, {"method": "em"}, "joint table of 729,000,000 cells, more than 2^22; name fewer attributes"),
        ((30,) * 6, {"f": 0.5}, "rr_ldp needs the joint table of 729,000,000 cells, more than 2^22; name fewer"),
        ((30,) * 6, {"method": "krr"}, "krr over all 729,000,000 combinations of values is too large; name fewer"),
        ((2, 3), {"method": "boost"}, "'boost' does not serve kind = \"joint\"; use pairs, rr_ldp, em, lasso, lremh"),
        ((2, 3), {"method": "independent", "ways": 2}, "unknown parameter 'ways' for independent"),
        ((2, 3), {"method": "em", "p": 0.75, "q": 0.5}, "0 <= p < q <= 1"),
        ((2, 3), {"method": "em", "p": 0.5, "q": 0.5}, "0 <= p < q <= 1"),
        ((2, 3), {"method": "em", "f": 1}, "f: expected a number between 0 and 1, got 1"),
        ((2, 3), {"method": "em", "f": 0.1, "p": 0.1, "q": 0.9}, r"per report, more than epsilon = 2"),
        ((2, 3), {"privacy": {"model": "local", "epsilon": 1, "delta": 1e-6}}, "needs `epsilon` alone"),
        ((2, 3), {"privacy": {"epsilon": 1}, "order": 3}, "order: expected at most 2, the number of attributes, got 3"),
        ((2, 3), {"privacy": {"epsilon": 1}, "order": 4}, "order: expected"),
        ((2, 3), {"privacy": {"epsilon": 1}, "method": "pairs"}, "'pairs' does not serve kind = \"joint\" of a table"),
        ((2, 3), {"privacy": {"epsilon": 1}, "triples": True}, "unknown parameter 'triples'"),
        ((2,), {"privacy": {"epsilon": 1}}, "a joint distribution needs two attributes or more"),
        ((2,) * 30, {"privacy": {"epsilon": 1}, "order": 3}, "are too many; at most 1,000 tables"),
    ],
)
def test_what_is_refused_says_why(sizes, options, wanted):
    with pytest.raises((ValueError, NotSupported)) as caught:
        plan(spec(*sizes, **options))
    assert wanted in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_plan_of_the_documents_methods_is_about_pairs():
    """As before, so that methods remain comparable: three attributes are no reason for a larger figure."""
    two, three = (plan(spec(*(2,) * d, method="em", f=0.5, p=0.5, q=0.75, privacy={"model": "local", "epsilon": 9.0}))
                  for d in (2, 3))  # fmt: skip
    assert two.chosen.predicted_error == pytest.approx(three.chosen.predicted_error)


@pytest.mark.parametrize("method", ["lasso", "lremh"])
def test_the_penalty_of_lasso_is_in_the_design_and_1_unless_stated(method):
    for given, expected in (({}, 1.0), ({"penalty": 4}, 4.0)):
        strategy = plan(spec(2, 3, method=method, **given)).chosen.mechanism.estimator.strategy
        assert (strategy if method == "lasso" else strategy.lasso).scale == expected
    with pytest.raises(ValueError, match="penalty: expected a number > 0, got 0"):
        plan(spec(2, 3, method=method, penalty=0))


@pytest.mark.parametrize("method", ["em", "rr_ldp", "pairs"])
def test_who_has_no_lasso_takes_no_penalty(method):
    with pytest.raises(ValueError, match="penalty"):
        plan(spec(2, 3, method=method, penalty=2))
