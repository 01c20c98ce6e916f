"""ahead: exact channels round by round, what is asked next, estimates by hand, simulated collections like real ones."""

import json
import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "contract"))
import oracle_checks as checks

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.basics.plain import plain, read
from dpress.core.maps.grid import Grid, Rectangles, sums
from dpress.mechanisms.protocol.report_type import per_user, rest
from dpress.mechanisms.protocol.rounds import round_of
from dpress.mechanisms.spatial.ahead import CARD, SPLIT, Ahead, LeafEstimate, ahead
from dpress.mechanisms.spatial.map_decoder import MapDecoder

FALSE_ALARM = 1e-6
WHOLE = ("0", "1", "2", "3")


def made(side=8, epsilon="1", rounds=2) -> Ahead:
    found = ahead(Grid(side), PureDP(epsilon=epsilon), rounds=rounds)
    assert found is not None
    return found


def positions(grid, shares, users, generator):
    """Draw users' places from shares of the cells."""
    ends = np.cumsum(shares) / shares.sum()
    cells = np.searchsorted(ends, generator.words(users) * 2.0**-64, side="right")
    order = np.argsort(grid.code(*np.indices((grid.side, grid.side)).reshape(2, -1)))
    return np.array(np.divmod(order[np.minimum(cells, shares.size - 1)], grid.side), dtype=np.int32)


def collected(own, places, generator, *, until=None):
    """Run the rounds over real reports; return the estimator of the last one and its tallies."""
    groups = (generator.words(places.shape[1]) % np.uint64(sum(own.depths))).astype(int)
    while True:
        tallies = []
        for place, asked in enumerate(own.types):
            mine = places[:, groups == len(own.earlier) + place]
            tallies.append(asked.tally(asked.perturb(mine, rng=generator)))
        following = own.following(tallies)
        if following is None or own.round == until:
            return own, tallies
        own = following


def heavy(height):
    """One cell in 16 with nearly everybody, clusters within clusters."""
    shares = np.ones(1)
    for level in range(height):
        shares = np.repeat(shares, 4) * np.tile(np.roll([0.7, 0.2, 0.1, 0.0], level), 4**level)
    return shares


def test_rounds_share_the_levels_and_every_level_has_one_user_group():
    assert made(128, rounds=3).depths == (3, 2, 2)
    assert made(128, rounds=7).depths == (1,) * 7
    own = made(128, rounds=3)
    assert (own.height, own.round, own.earlier, own.before) == (7, 0, (), 0)
    assert [round_of(own.depths, group) for group in range(7)] == [0, 0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="there are 7 user groups, got group=7"):
        round_of(own.depths, 7)
    assert [one.size for one in own.oracles] == [4, 16, 64]
    assert [one.oracles for one in own.types] == [(one,) for one in own.oracles]
    assert len(ahead(Grid(8), PureDP(epsilon=1)).depths) == 3
    assert len(ahead(Grid(256), PureDP(epsilon=1)).depths) == 4
    assert ahead(Grid(12), PureDP(epsilon=1)) is None
    assert ahead(Grid(8), ZCDP(rho=1)) is None
    with pytest.raises(NotSupported, match="calibrated to epsilon"):
        CARD.example(ZCDP(rho=1), None)


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_no_report_of_any_round_costs_more_than_epsilon_and_five_percent_more_is_caught(epsilon):
    own = made(4, epsilon)
    places = positions(own.grid, np.r_[np.ones(4), np.zeros(12)], 4000, rng.seeded(1))
    second, _ = collected(own, places, rng.seeded(2))
    assert second.round == 1
    assert [one.size for one in second.oracles] == [7]  # the one full quarter was split, nothing else
    for one in (own, second):
        assert one.claim.proven == one.claim.published == PureDP(epsilon=epsilon)
        for (oracle,) in (asked.oracles for asked in one.types):
            assert checks.rows_add_up(oracle.channel())
            assert checks.keeps_promise([oracle.channel()], epsilon)
            assert checks.spends_all([oracle.channel()], epsilon)
    more = PureDP(epsilon=Fraction(epsilon) * Fraction(21, 20))
    with pytest.raises(ValueError, match="oracles: expected those of the stated loss"):
        replace(second, loss=more)  # the rounds after it would cost more
    planted, _ = collected(made(4, more.epsilon), places, rng.seeded(2))
    assert planted.round == 1
    assert planted.claim.proven == more
    assert not checks.keeps_promise([planted.types[0].oracles[0].channel()], epsilon)


def test_a_report_has_the_law_of_its_leaf_and_another_leaf_is_caught():
    own, _ = collected(made(4), positions(Grid(4), np.r_[np.ones(4), np.zeros(12)], 4000, rng.seeded(1)), rng.seeded(2))
    (asked,) = own.types
    channel, generator = asked.oracles[0].channel(), rng.seeded(3)
    assert own.leaves == (("00", "01", "02", "03", "1", "2", "3"),)
    for place, leaf in (((0, 0), 0), ((1, 1), 3), ((0, 2), 4), ((1, 3), 4), ((3, 3), 6)):
        at = type(
            "At",
            (),
            {
                "perturb": lambda _, v, *, rng, p=place: asked.perturb(
                    np.tile(np.array(p, np.int32)[:, None], (1, v.size)), rng=rng
                )
            },
        )()
        assert checks.reports_fit(at, channel, leaf, 20_000, generator)
        assert not checks.reports_fit(at, channel, (leaf + 1) % 7, 20_000, generator)
    with pytest.raises(ValueError, match="between 0 and 3"):
        asked.perturb(np.array([[4], [0]], np.int32), rng=generator)


def test_what_is_asked_next_follows_from_the_answers_alone():
    own = made(32, rounds=5)
    places = positions(own.grid, heavy(5), 20_000, rng.seeded(4))
    third, tallies = collected(own, places, rng.seeded(5), until=2)
    following = third.following(tallies)
    assert following == third.following([one.copy() for one in tallies])
    assert following.earlier[:2] == third.earlier
    assert following.leaves[0] != third.leaves[0]
    users, counts = int(tallies[0][-1]), following.earlier[2].counts
    assert following.before == third.before + users
    assert np.allclose(counts, third.oracles[0].estimate(tallies[0][:-1], users).answers, atol=0.5)
    # who knows what the document says knows as much: counts of the earlier rounds give the same leaves
    again = read(object, json.loads(json.dumps(plain(following))), find=catalog.find)
    assert again == following
    assert again.round == 3
    assert again.types == following.types
    changed = tallies[0].copy()
    changed[:-1] = np.roll(changed[:-1], changed.size // 2)
    assert third.following([changed]).leaves != following.leaves


def test_a_leaf_is_split_where_its_share_is_worth_it():
    own = made(8, rounds=3)
    users = 3000
    deviation = math.sqrt(per_user(own.oracles[0], 0.0) / users)
    above, below = (int(users * (SPLIT * deviation) * factor) for factor in (1.02, 0.98))
    counts = (users - above - below, above, below, 0)
    first = replace(
        own,
        earlier=(LeafEstimate(leaves=WHOLE, counts=counts, users=users, by=own.oracles[0]),),
        leaves=(WHOLE,),
    )
    assert first.round == 1
    found = [first._shares(one, users) for one in first.earlier]
    assert [one.names for one in first._grown(found, 1)] == [("00", "01", "02", "03", "10", "11", "12", "13", "2", "3")]
    one, two = first._grown(found, 2)  # the second level at once where half of the share is enough
    assert [one.size, two.size] == [10, 22]
    assert {name[:1] for name in two.names if len(name) == 3} == {"0"}


def test_a_leaf_asked_about_twice_gets_the_mean_of_its_answers_by_their_precision():
    own = made(4, rounds=2)
    (oracle,) = own.oracles
    answered = LeafEstimate(leaves=WHOLE, counts=(30, 10, 40, 20), users=100, by=oracle)
    second = replace(own, earlier=(answered,), leaves=(WHOLE,))
    (asked,) = second.types
    tally = asked.tally(asked.perturb(positions(own.grid, np.ones(16), 300, rng.seeded(6)), rng=rng.seeded(7)))
    measurement = second.measurement([tally])
    now = np.rint(oracle.estimate(tally[:-1], 300).answers) / 300
    variances = []
    for shares, users in ((np.array([0.3, 0.1, 0.4, 0.2]), 100), (now, 300)):
        held = np.clip(shares, 0, 1)
        each = np.mean([oracle.variance(1, share) for share in held])
        variances.append((each + np.mean(held * (1 - held)) * rest(400, users)) / users)
    weights = 1 / np.array(variances)
    wanted = 400 * (weights[0] * np.array([0.3, 0.1, 0.4, 0.2]) + weights[1] * now) / weights.sum()
    assert np.allclose(measurement.answers[1:5], wanted)
    assert np.allclose(measurement.variance[1:5], 400**2 / weights.sum())
    assert np.isinf(measurement.variance[5:]).all()
    counts = second.decoded(measurement, 400).counts
    assert counts.sum() == pytest.approx(400)
    assert counts.min() >= 0
    assert np.allclose(counts[:2, :2], counts[0, 0])
    with pytest.raises(ValueError, match="nobody reported in round 1"):
        second.measurement([np.append(np.zeros_like(tally[:-1]), 0)])


def test_the_predicted_variance_of_a_cell_is_that_of_its_leaf():
    own = made(2, rounds=1)
    (oracle,) = own.oracles
    assert own.mean_variance(1000) == pytest.approx(oracle.variance(1000, 0.25))
    assert made(8, "0.1", rounds=3).mean_variance(10) < made(8, "0.1", rounds=3).mean_variance(1000)  # spread wider


def answered(**changed):
    """A round's answers as a document has them, made wrong."""
    return plain(LeafEstimate(leaves=WHOLE, counts=(1, 2, 3, 4), users=3, by=made().oracles[0])) | changed


@pytest.mark.parametrize("rounds", [0, 4])
def test_rounds_that_cannot_be_are_refused_with_their_place(rounds):
    place = r"\$\.release\.parameters\."
    message = {0: "rounds must be", 4: f"{place}rounds: expected at most 3, the height of the quadtree, got 4"}[rounds]
    with pytest.raises(ValueError, match=f"^{message}"):
        ahead(Grid(8), PureDP(epsilon=1), rounds=rounds)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"earlier": 3}, r"\$\.earlier: expected a list, got int"),
        ({"earlier": [{"users": 3}]}, r"\$\.earlier\[0\]\.leaves: missing"),
        ({"earlier": [answered(method="ahead")]}, r"\$\.earlier\[0\]\.method: expected a LeafEstimate, got 'ahead'"),
        ({"earlier": [answered(by=3)]}, r"\$\.earlier\[0\]\.by: expected an object of a method, got int"),
        ({"earlier": [answered(by={"size": 4})]}, r"\$\.earlier\[0\]\.by\.method: missing"),
        ({"earlier": [answered(counts=[1, 2])]}, r"\$\.earlier\[0\]: expected a count for each of 4 leaves"),
        ({"earlier": [answered(counts=[1, 2, 3, 4.5])]}, r"\$\.earlier\[0\]\.counts\[3\]: expected an integer"),
        ({"earlier": [answered(users=-1)]}, r"\$\.earlier\[0\]: expected a count for each of 4 leaves, and users >= 0"),
        ({"earlier": [answered(), answered(), answered()]}, r"\$: earlier: expected one of \[0, 1, 2\]"),
        ({"earlier": [answered(leaves=["0", "1", "2", "30"])], "leaves": [[*WHOLE]]}, r"\$: expected paths that lead"),
        ({"leaves": [[*WHOLE], [*WHOLE]]}, r"\$: leaves: expected those of 1 types, got 2"),
        ({"leaves": []}, r"\$: leaves: expected those of 1 types, got 0"),
        ({"leaves": [["0", "1", "2"]]}, r"\$: expected paths that lead to every cell exactly once"),
        ({"leaves": [["0", "1", "2", "4"]]}, r"\$: expected paths of 1 to 3 digits from 0 to 3"),
        ({"leaves": [["00", "01", "02", "03", "1", "2", "3"]]}, r"\$: oracles: expected one value for every leaf"),
    ],
)
def test_documents_that_cannot_be_are_refused_with_their_place(changed, message):
    own = plain(made(rounds=3))
    assert read(object, own, find=catalog.find) == made(rounds=3)
    with pytest.raises(ValueError, match=f"^{message}"):
        read(object, own | changed, find=catalog.find)


def test_an_ended_round_is_simulated_as_far_as_it_got():
    own = made(32, rounds=3)
    counts = 10_000 * heavy(5)
    first = own.ended().simulated(counts, 10_000, rng=rng.seeded(8))
    assert np.isfinite(first.variance).sum() == 1 + 4 + 16
    whole = own.simulated(counts, 10_000, rng=rng.seeded(8))
    assert np.isfinite(whole.variance[-1024:]).any()


@pytest.mark.slow
def test_simulated_rounds_err_as_real_ones_do_and_three_times_the_users_are_caught():
    """Chance of a false alarm 1e-6: mean logarithms of 80 and of 300 squared errors, against their normal limit."""
    own, users, generator = made(16, rounds=2), 6000, rng.seeded(9)
    shares = heavy(4)
    asked = Rectangles(*map(np.array, ([0.0, 3.0, 8.0], [9.0, 12.0, 16.0], [0.0, 0.0, 4.0], [5.0, 16.0, 8.0])))

    def error(found, truth):
        return float(((sums(found.counts, asked) - sums(truth, asked)) ** 2).mean())

    places = positions(own.grid, shares, users, generator)
    truth = np.zeros((16, 16))
    np.add.at(truth, tuple(places), 1.0)
    real = []
    for _ in range(80):
        last, tallies = collected(own, places, generator)
        real.append(error(last.decoded(last.measurement(tallies), users), truth))
    again = {}
    for number in (users, 3 * users):
        counts = own.grid.flat(truth) * number / users
        again[number] = [
            error(own.decoded(own.simulated(counts, number, rng=generator), number), truth * number / users)
            * (users / number) ** 2
            for _ in range(300)
        ]
    limit = NormalDist().inv_cdf(1 - FALSE_ALARM / 2)
    assert abs(apart(real, again[users])) < limit
    assert abs(apart(real, again[3 * users])) > limit


def apart(one, two):
    """The difference of two means in standard errors, of logarithms: errors are skewed."""
    one, two = np.log(one), np.log(two)
    return (one.mean() - two.mean()) / math.sqrt(one.var(ddof=1) / len(one) + two.var(ddof=1) / len(two))


def test_the_error_of_a_release_has_what_leaves_hide():
    own = made(32, rounds=3)
    measurement = own.simulated(10_000 * heavy(5), 10_000, rng=rng.seeded(10))
    density = MapDecoder(own, 10_000).density(measurement)
    bare = density.noise.noise
    one = Rectangles(*map(np.array, ([0.0], [13.0], [0.0], [21.0])))
    assert density.noise.variances(one)[0] > bare.variances(one)[0]
    whole = Rectangles(*map(np.array, ([0.0], [32.0], [0.0], [32.0])))
    assert density.variances(whole)[0] == pytest.approx(0, abs=1e-6)
