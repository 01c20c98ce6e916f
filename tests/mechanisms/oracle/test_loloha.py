"""loloha: both responses against their enumeration, histories of values, the device's account, calibration."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpress
from dpress.core.basics import rng
from dpress.core.basics.errors import BudgetExceeded
from dpress.core.basics.losses.pure import PureDP
from dpress.ledger.device_ledger import DeviceLedger
from dpress.mechanisms.oracle.loloha import Loloha, calibrated
from dpress.mechanisms.oracle.olh import bucket, hashes
from dpress.noise.permanent import Slot
from dpress.release.devices.device import Account

DEVICES = 40_000
FALSE_ALARM = 5.5  # standard errors: below 1e-6 over all figures of a test
SPEC = {
    "attribute": [{"name": "age", "kind": "integer", "bounds": [0, 99]}],
    "privacy": {"model": "local", "epsilon": 1.0},
    "release": {"kind": "histogram", "method": "loloha"},
}


def oracle_of(epsilon="1", g=2, lifetime=None, size=50):
    return calibrated(size, PureDP(epsilon=epsilon), g, None if lifetime is None else Fraction(lifetime))


def secrets_of(devices, salt=0):
    return rng.seeded(salt).words(2 * devices).view(np.uint8).reshape(devices, 16)


def fields_of(reports):
    whole = np.ascontiguousarray(reports)
    return whole[:, :12].copy().view("<u4").T, whole[:, 12].astype(int)


def histories_loss(oracle, cells):
    """The largest log ratio of all tables of permanent responses between two histories that visit so many cells."""
    g = oracle.g
    odds = {True: float(oracle.kept), False: float(oracle.other)}
    chances = [
        {seen: math.prod(odds[seen[i] == cell] for i, cell in enumerate(visited)) for seen in seen_}
        for visited in itertools.permutations(range(g), cells)
        for seen_ in [list(itertools.product(range(g), repeat=cells))]
    ]
    return max(math.log(one[seen] / other[seen]) for one in chances for other in chances for seen in one)


@pytest.mark.parametrize(("g", "lifetime"), [(2, "2"), (3, "1.5")])
def test_a_history_of_changing_values_costs_its_cells_and_at_most_all_of_them(g, lifetime):
    own = oracle_of(g=g, lifetime=lifetime)
    every = float(own.lifetime.epsilon)
    for cells in range(1, g + 1):
        cost = histories_loss(own, cells)
        assert cost <= cells * every + 1e-9 <= float(own.lifelong.epsilon) + 1e-9
        assert cost > (cells - 0.5 if g == 2 or cells < g else 1) * every  # the bound is no empty one
    assert own.lifelong.epsilon == g * own.lifetime.epsilon


@pytest.mark.parametrize(("epsilon", "g", "lifetime"), [("1", 2, "2"), ("0.5", 4, "3"), ("3", 7, "3.5")])
def test_both_responses_cost_what_is_asked_and_no_more(epsilon, g, lifetime):
    own = oracle_of(epsilon, g, lifetime)
    p, q, kept, other = own.p, (1 - own.p) / (g - 1), own.kept, own.other
    single = p * kept + (g - 1) * q * other, p * other + q * kept + (g - 2) * q * other
    assert single == (own.right, own.wrong)
    assert 0 <= Fraction(epsilon) - Fraction(math.log(single[0] / single[1])) < 1e-9
    assert 0 <= Fraction(lifetime) - own.lifetime.epsilon < 1e-6
    with pytest.raises(ValueError, match="reports would spend more than epsilon"):
        Loloha(size=9, loss=PureDP(epsilon=epsilon), g=g, other=other, p=p + Fraction(1, 2**30))


def test_a_secret_answers_alike_for_ever_and_values_of_a_cell_share_it():
    own, slot = oracle_of("2", 3, "20", size=1000), Slot(collection=bytes(range(16)), number=3)
    secrets, values = secrets_of(500), np.arange(500, dtype=np.int32)
    first, again = (own.perturb(values, rng=rng.seeded(seed), secrets=secrets, slot=slot) for seed in (1, 2))
    seed, _ = fields_of(first)
    assert np.array_equal(seed, fields_of(again)[0])
    assert not np.array_equal(seed, fields_of(own.perturb(values, rng=rng.seeded(1), secrets=secrets))[0])
    assert np.array_equal(own.cells(values, secrets, slot), bucket(hashes(values, *seed), 3))


def test_permanent_and_fresh_responses_have_the_stated_odds():
    own, slot = oracle_of("1", 3, "2"), Slot()
    values = np.full(DEVICES, 7, dtype=np.int32)
    for secrets in (None, secrets_of(DEVICES)):
        reports = own.perturb(values, rng=rng.seeded(3), secrets=secrets, slot=slot)
        held = float(own.supporting(reports, 7).mean())
        spread = math.sqrt(float(own.right * (1 - own.right)) / DEVICES)
        assert abs(held - float(own.right)) < FALSE_ALARM * spread
        assert abs(held - float(own.p)) > FALSE_ALARM * spread  # the control: without the permanent response


def test_a_word_is_counted_through_the_other_cells():
    own = oracle_of("1", 3, "2")
    step = int(own.other * 2**32)
    words = np.array([0, step - 1, step, 2 * step - 1, 2 * step, 2**32 - 1], dtype=np.uint32)
    assert own._permanent(np.zeros(6, np.uint32), words).tolist() == [1, 1, 2, 2, 0, 0]
    assert own._permanent(np.ones(6, np.uint32), words).tolist() == [0, 0, 2, 2, 1, 1]


def test_a_changed_value_is_charged_where_its_cell_is_new(tmp_path):
    made = dpress.device(dpress.plan(dpress.load_spec(SPEC)).design)
    oracle = made.collection.types[0].oracles[0]
    secret, ledger = bytes(range(16)), DeviceLedger(path=tmp_path / "charges.jsonl")
    account = Account(ledger=ledger, limit=PureDP(epsilon=100))
    for value in [*range(100), 3, 4]:
        made.answer((value,), rng=rng.seeded(value), secret=secret, account=account)
    assert [line.epsilon for line in ledger.lines] == [str(oracle.lifetime.epsilon)] * 2
    assert ledger.spent == oracle.lifelong.epsilon
    tight = Account(ledger=DeviceLedger(path=tmp_path / "tight.jsonl"), limit=oracle.lifetime)
    cells = oracle.cells(
        np.arange(100, dtype=np.int32),
        np.frombuffer(secret, dtype=np.uint8)[None].repeat(100, 0),
        made.collection.slot(0, made._key),
    )
    same, another = (int(np.flatnonzero((cells == cells[0]) == held)[-1]) for held in (True, False))
    for value in (0, same):
        made.answer((value,), rng=rng.seeded(value), secret=secret, account=tight)
    with pytest.raises(BudgetExceeded):
        made.answer((another,), rng=rng.seeded(1), secret=secret, account=tight)
    with pytest.raises(ValueError, match="loloha keeps a permanent response: pass the device's secret"):
        made.answer((1,), rng=rng.seeded(1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lifetime": 1}, r"parameters.lifetime: expected more than epsilon = 1, one report's, got 1$"),
        ({"lifetime": "1.0000000000001"}, r"parameters.lifetime: 1 is too near to epsilon = 1, or beyond 32 bits"),
        ({"g": 1}, r"parameters.g: expected an integer .*, got 1"),
        ({"lifetime": "x"}, r"parameters.lifetime: "),
    ],
)
def test_what_is_refused_says_what_would_be_right(parameters, message):
    release = SPEC["release"] | {"parameters": parameters}
    with pytest.raises(ValueError, match=message) as caught:
        dpress.plan(dpress.load_spec(SPEC | {"release": release}))
    assert "\n" not in str(caught.value)
