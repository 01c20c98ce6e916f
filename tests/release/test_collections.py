"""Which collections could serve a spec, and what is refused."""

import pytest

from dpress import plan
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.data.specification.spec import from_dict
from dpress.release.plan.collections import collections, lower_bound
from dpress.release.plan.plan_text import caution, cautions

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}


def spec(*attributes, privacy=None, kind="marginals", method="auto", **parameters):
    release = {"kind": kind, "method": method, "parameters": parameters}
    promise = {"model": "local", **(privacy or {"epsilon": 1.0})}
    return from_dict({"attribute": list(attributes or (AGE, SEX)), "privacy": promise, "release": release})


def asked(own):
    return collections(own, "tables")


def cells(size):
    return AGE | {"bounds": [0, size - 1]}


def test_every_oracle_for_both_splits():
    found = [(name, one.split) for name, one in asked(spec())]
    assert len(found) == 2 * len({name for name, _ in found})
    assert {
        "krr",
        "oue",
        "olh",
        "hadamard",
        "subset_selection",
        "rappor",
        "rr_ldp",
        "pcep",
        "pgr",
        "sue",
        "loloha",
    } == {n for n, _ in found}
    assert all(split == "users" for _, split in ((n, one.split) for n, one in asked(spec(AGE))))


def test_every_claim_is_within_the_budget():
    for _, one in asked(spec()):
        assert one.claim.proven.epsilon <= PureDP(epsilon=1).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("split", ["users", "budget"])
@pytest.mark.parametrize("size", [1, 2, 10, 1000])
def test_the_lower_bound_is_that_of_subset_selection(split, size):
    own = spec(cells(size), SEX, method="subset_selection", split=split)
    planned = plan(own)
    assert lower_bound(own) == pytest.approx(planned.chosen.predicted_error, rel=1e-6)
    assert all(one.predicted_error >= planned.lower_bound * (1 - 1e-6) for one in planned.candidates)


@pytest.mark.parametrize("size", [2**19 + 1, 10_000_000, 2**26])
def test_a_huge_domain_gets_a_short_report(size):
    planned = plan(spec(cells(size)))
    assert max(question.width for question in planned.chosen.mechanism.types) <= 16
    assert {"rappor", "pcep", "rr_ldp", "oue"}.isdisjoint(one.method for one in planned.candidates)
    assert planned.lower_bound <= planned.chosen.predicted_error


@pytest.mark.parametrize("kind", ["marginals", "joint"])
def test_more_cells_than_can_be_estimated(kind):
    with pytest.raises(NotSupported, match="'age' has 67,108,865 cells; at most 67,108,864 cells are estimated"):
        plan(spec(cells(2**26 + 1), SEX, kind=kind))


@pytest.mark.parametrize(("split", "times"), [("users", 1), ("budget", 2)])
def test_the_lifetime_of_a_permanent_response(split, times):
    own = plan(spec(method="rr_ldp", split=split)).chosen.mechanism
    assert own.lifetime.epsilon == times * own.types[0].oracles[0].lifetime.epsilon
    assert plan(spec(method="krr", split=split)).chosen.mechanism.lifetime is None


def test_a_slow_method_runs_where_it_is_named():
    names = {name for name, _ in asked(spec(cells(2000)))}
    assert names.isdisjoint({"rappor", "pcep"})
    assert "pcep" in {name for name, _ in asked(spec(cells(2000), method="pcep", rows=2000))}
    assert "olh" not in {name for name, _ in asked(spec(cells(2**20), users=10**9))}
    assert "olh" in {name for name, _ in asked(spec(cells(2**20), users=10**9, method="olh"))}


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"privacy": {"rho": 1.0}}, r"needs `epsilon` alone, got rho = 1"),
        ({"privacy": {"epsilon": 1.0, "delta": 1e-6}}, r"needs `epsilon` alone, got epsilon = 1, delta = 1e-06"),
        ({"privacy": {"epsilon": 1.0, "unit": "uid"}}, r"every row is one person; leave out `unit`"),
        ({"ways": 2}, r"collects one table for each attribute; leave out `ways`, or take kind = \"joint\" for pairs"),
        ({"tables": [["age"]]}, r"collects one table for each attribute; leave out `tables`, or take kind = \"joint"),
        ({"split": "both"}, r'parameters.split: expected "users" or "budget", got \'both\''),
        ({"users": 0}, r"parameters.users: expected an integer >= 1, got 0"),
        ({"users": 1.5}, r"parameters.users: expected an integer >= 1, got 1.5"),
        ({"users": True}, r"parameters.users: expected an integer >= 1, got True"),
        ({"users": "many"}, r"parameters.users: expected an integer >= 1, got 'many'"),
        ({"nonsense": 1}, r"unknown parameter 'nonsense' for a local collection"),
        ({"method": "krr", "f": 0.5}, r"unknown parameter 'f' for krr"),
        (
            {"method": "boost"},
            r"'boost' is for a table that a curator holds \(.*\) and does not serve",
        ),
        ({"method": "boost"}, r"under model = \"local\"; those that do: [^:]*hadamard, krr, (?!.*\bkrr\b)"),
        ({"method": "em"}, r"'em' does not serve kind = 'marginals' under model = \"local\"; those that do: "),
        ({"method": "rr_ldp", "f": 0.1}, r"cost epsilon = .* per report, more than epsilon = "),
    ],
)
def test_what_is_refused_says_what_would_be_right(own, message):
    with pytest.raises(ValueError, match=message) as caught:
        plan(spec(**own))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("epsilon", "said"), [(1, False), (20, False), (20.5, True), (900, True)])
def test_a_weak_promise_is_remarked_upon(epsilon, said):
    own = spec(privacy={"epsilon": epsilon})
    assert bool(caution(own.privacy.loss)) == said
    assert cautions(plan(own)) == ([caution(own.privacy.loss)] if said else [])
    assert plan(own).chosen
