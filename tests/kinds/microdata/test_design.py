"""Which method makes records, and what is refused before a charge."""

import math

import pytest
from tests.kinds.microdata.people import ATTRIBUTES, spec, table

from dpress import Ledger, publish
from dpress.core.basics.losses.gaussian_dp import GaussianDP
from dpress.core.basics.losses.pure import PureDP
from dpress.kinds.microdata import design, plan_text
from dpress.mechanisms.microdata.dp_prototypes import DpPrototypes
from dpress.release.plan.candidate import rank
from dpress.release.plan.plan import plan


def test_auto_is_the_method_that_was_measured_to_be_the_nearer_one():
    planned = plan(spec("auto", users=3000))
    assert [one.method for one in planned.candidates] == ["graphical", "dp_prototypes"]
    assert planned.chosen.method == "graphical"
    assert all(one.mechanism.claim.proven == PureDP(epsilon=1) for one in planned.candidates)
    own = planned.candidates[1].mechanism.synthesizer
    assert isinstance(own, DpPrototypes)
    assert planned.candidates[1].predicted_error == own.noise_sse(3000)
    assert planned.design.prediction.error is None
    assert said(planned).startswith("graphical is taken: this rests on measurements")


def test_an_infinite_error_does_not_decide(monkeypatch):
    """As it did: candidates by their predicted error, infinite for the nearer one."""
    monkeypatch.setattr(design, "_preference", rank)
    assert plan(spec("auto", users=3000)).chosen.method == "dp_prototypes"


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ({"clusters": 4}, "it takes no `clusters`"),
        ({"rounds": 2}, "`rounds` are those of clusters unless a method is named"),
        ({"weights": [1.0, 2.0, 1.0]}, "it knows no distance of records"),
        ({"attributes": ATTRIBUTES[:1]}, "it needs two attributes or more"),
    ],
)
def test_where_it_cannot_be_taken_the_next_one_is_and_the_plan_says_why(parts, why):
    planned = plan(spec("auto", **parts))
    assert [one.method for one in planned.candidates] == ["dp_prototypes"]
    assert f"dp_prototypes is taken, as graphical cannot be: {why}" in said(planned)


def test_a_base_install_takes_the_next_one_in_plain_words(monkeypatch):
    monkeypatch.setattr(design, "has_scipy", lambda: False)
    planned = plan(spec("auto"))
    assert planned.chosen.method == "dp_prototypes"
    assert "it needs SciPy: pip install 'dpress[numerics]'" in said(planned)


def said(planned):
    return str(plan_text.text(planned).remarks[0])


def test_more_clusters_and_less_loss_are_noisier():
    louder = plan(spec(privacy={"epsilon": 0.5}, clusters=4, users=3000)).chosen.predicted_error
    assert louder > 3 * plan(spec(clusters=4, users=3000)).chosen.predicted_error


def test_an_approximate_budget_is_spent_on_the_noise_that_adds_less():
    budget = {"epsilon": 1.0, "delta": 1e-6}
    found = [plan(spec(privacy=one, clusters=4)).chosen.predicted_error for one in (budget, {"epsilon": 1.0})]
    assert found[0] <= found[1]
    unpriced = plan(spec("graphical", budget)).chosen
    assert math.isinf(unpriced.predicted_error)
    assert isinstance(unpriced.mechanism.loss, GaussianDP)  # many answers share mu^2 better


def test_the_plan_says_how_far_off_pairs_are_likely_to_be_and_of_few_rows_that_it_is_too_far():
    def said(**parameters):
        return " ".join(str(one) for one in plan_text.text(plan(spec("graphical", **parameters))).remarks)

    assert "in 40,000 records the shares of any two attributes are likely to be off by 0.0" in said(users=40_000)
    assert plan_text.USELESS in said(users=100)
    assert plan_text.USELESS not in said(users=40_000)
    assert "any two attributes are likely" not in said(rounds=1)


def test_without_numbers_no_noise_is_predicted_rather_than_none_at_all():
    lists = [{"name": name, "kind": "categorical", "values": ["a", "b", "c"]} for name in ("one", "two")]
    planned = plan(spec(attributes=lists, clusters=2))
    assert [math.isinf(one.predicted_error) for one in planned.candidates] == [True] * len(planned.candidates)
    assert planned.design.prediction.error is None
    shown = " ".join(str(one) for one in plan_text.text(planned).candidates.rows)
    assert plan_text.NONE in shown


REFUSED = [
    ({"method": "mdav"}, "mdav: the published claim is not proven: the groups are made of the raw records"),
    ({"clusters": 9999, "users": 500}, r"clusters: expected at most `users`, 500, got 9999"),
    ({"clusters": 400, "users": 500}, r"500 records carry at most \d+ clusters under epsilon = 1, got 400"),
    ({"rows": "aligned"}, "row i would be about person i"),
    ({"rows": "wild"}, 'rows: expected "mixture" or "representative", got \'wild\''),
    ({"clusters": 1, "rows": "representative"}, "expected at least 2, got 1"),
    ({"method": "dp_k_prototypes", "clusters": 1}, "expected at least 2, got 1"),
    ({"method": "mdav", "group": 1}, "group: expected an integer >= 2, got 1"),
    ({"method": "mdav", "clusters": 3}, "unknown parameter 'clusters' for mdav; known: users, weights, group"),
    ({"method": "insensitive_microaggregation", "users": 300}, "group: insensitive_microaggregation needs it"),
    ({"method": "per_record"}, "users: per_record needs it"),
    ({"method": "identity"}, "'identity' makes no records; those that do: dp_k_prototypes, dp_prototypes"),
    ({"weights": [1.0]}, "weights: expected 3 numbers >= 0"),
    ({"weights": [0, 0, 0]}, "weights: expected 3 numbers >= 0"),
    ({"weights": "most"}, 'weights: expected a list of numbers >= 0, one for every attribute, or "influence", got'),
    ({"weights": "influence"}, "measured on clusters of the raw rows, which no proof covers"),
    ({"method": "dp_prototypes", "weights": "influence"}, 'only method = "dp_k_prototypes" takes it'),
    ({"method": "dp_k_prototypes", "starts": "near"}, 'starts: expected "far apart" or "random", got'),
    ({"users": 0}, "users: expected an integer >= 1, got 0"),
    (
        {"method": "auto", "k": 3},
        "unknown parameter 'k' for kind 'microdata'; known: users, weights, clusters, rounds, rows",
    ),
    ({"method": "mdav", "privacy": {"rho": 1.0}}, "calibrated to epsilon, got rho = 1"),
]


@pytest.mark.parametrize(("parts", "message"), REFUSED)
def test_what_cannot_be_is_refused_before_anything_is_charged(parts, message, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger.db", limit=PureDP(epsilon=10), unit=spec().privacy.protected)
    with pytest.raises(ValueError, match=message):
        publish(spec(**parts), table(), ledger=ledger)
    assert ledger.summary().entries == ()


def test_the_published_method_takes_weights_by_influence_and_random_starts():
    parts = {"weights": "influence", "starts": "random", "clusters": 5, "restarts": 2}
    own = plan(spec("dp_k_prototypes", **parts)).chosen.mechanism
    assert (own.synthesizer.weights, own.synthesizer.starts) == ("influence", "random")
    assert own.weights == (1.0, 1.0, 1.0)
    assert own.parameters == {"clusters": 5, "restarts": 2, "starts": "random"}
    assert own.as_plain()["synthesizer"]["weights"] == "influence"
    plain = plan(spec("dp_k_prototypes")).chosen.mechanism
    assert plain.parameters == {"clusters": 20, "restarts": 4}
    assert not {"weights", "starts"} & set(plain.as_plain()["synthesizer"])
