"""Who is asked what: unbiased, and as wrong as predicted, the sampling of those who were asked included."""

import math

import numpy as np
import pytest

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.losses.pure import PureDP
from dpress.mechanisms.joint.rr_ldp import RrLdp
from dpress.mechanisms.oracle.krr import Krr
from dpress.mechanisms.oracle.oue import Oue
from dpress.mechanisms.oracle.rappor import Rappor
from dpress.mechanisms.protocol.collection import Collection
from dpress.mechanisms.protocol.one_way import OneWay
from dpress.mechanisms.protocol.report_type import Part, ReportType

RUNS = 6000
ALARM = 6  # standard deviations: a false alarm in 5e8 tests
EVERYBODY, ASKED = 800, 400
HELD = np.array([80, 240, 480])  # of each value


def about(oracles, axes=(0,)):
    """Return the report type with one part for every attribute."""
    return ReportType(parts=tuple(Part(axes=(axis,), oracle=one) for axis, one in zip(axes, oracles, strict=True)))


def by_lot(oracle, seed):
    """Return estimates and variances over many samples of ASKED out of EVERYBODY, shape (RUNS, k) each."""
    generator, own = rng.seeded(seed), about([oracle])
    people = np.repeat(np.arange(3, dtype=np.int32), HELD)
    order = np.argsort(generator.words(RUNS * EVERYBODY).reshape(RUNS, EVERYBODY), axis=1)[:, :ASKED]
    payloads = own.perturb(people[order].reshape(1, -1), rng=generator).reshape(RUNS, ASKED, -1)
    found = [own.estimates(own.tally(sent), EVERYBODY)[0] for sent in payloads]
    return (np.array(part) for part in zip(*found, strict=True))


def spread(oracle, *, sampling):
    """Return the variance of the counts, users being fixed, with or without that of sampling."""
    share = HELD / EVERYBODY
    scale = EVERYBODY / ASKED
    noise = [scale**2 * oracle.variance(ASKED, one) for one in share]
    drawn = EVERYBODY**2 * share * (1 - share) * (EVERYBODY - ASKED) / (EVERYBODY - 1) / ASKED
    return np.array(noise) + drawn * sampling


@pytest.mark.slow
@pytest.mark.parametrize("make", [Krr, Oue])
def test_a_lot_of_the_users_stands_for_all(make):
    oracle = make(size=3, loss=PureDP(epsilon=4))
    counts, variances = by_lot(oracle, 11)
    wanted = spread(oracle, sampling=1)
    assert (np.abs(counts.mean(axis=0) - HELD) < ALARM * np.sqrt(wanted / RUNS)).all()
    measured = counts.var(axis=0)
    doubt = ALARM * np.sqrt(counts.var(axis=0) ** 2 * 3 / RUNS)  # the kurtosis is below 4
    assert (np.abs(measured - wanted) < doubt).all()
    assert (measured - spread(oracle, sampling=0) > doubt).any()  # without the sampling variance it would be found
    stated = variances.mean(axis=0)  # the estimate stands in for the share; what is added for few people is little here
    assert (stated > wanted * (1 - 0.01)).all()
    assert stated == pytest.approx(wanted, rel=0.15)


def test_everybody_asked_is_no_lot():
    oracle = Krr(size=3, loss=PureDP(epsilon=1))
    own = about([oracle])
    payloads = own.perturb(np.array([[0, 1, 2, 2]]), rng=rng.seeded(1))
    counts, variance = own.estimates(own.tally(payloads), 4)[0]
    measured = oracle.estimate(oracle.tally(payloads), 4)
    assert (counts == measured.answers).all()
    assert (variance == measured.variance).all()
    assert own.estimates(own.tally(payloads[:1]), 1)[0][1].shape == (3,)  # one user of one


def collection(shape, split, epsilon=2):
    parts = len(shape) if split == "budget" else 1
    oracles = tuple(Krr(size=size, loss=PureDP(epsilon=epsilon) if parts == 1 else PureDP(epsilon=1)) for size in shape)
    if split == "budget":
        types = (about(oracles, range(len(shape))),)
    else:
        types = tuple(about([one], [axis]) for axis, one in enumerate(oracles))
    return one_way(shape, types, split)


def one_way(shape, types, split="users"):
    return Collection(shape=shape, types=types, split=split, estimator=OneWay(shape=shape, types=types))


@pytest.mark.parametrize("split", ["users", "budget"])
def test_the_predicted_variance_is_that_of_even_tables(split):
    own = collection((2, 4), split)
    assert own.claim.proven == PureDP(epsilon=2)
    users, total = 1000, 0.0
    for each in own.types:
        asked = users // len(own.types)
        for oracle in each.oracles:
            share = 1 / oracle.size
            sampling = users**2 * share * (1 - share) * (users - asked) / (users - 1) / asked
            total += oracle.size * (oracle.variance(asked, share) * (users / asked) ** 2 + sampling)
    assert own.mean_variance(users) == pytest.approx(total / 6, rel=1e-6)


@pytest.mark.parametrize("split", ["users", "budget"])
def test_tables_come_in_the_order_of_the_attributes(split):
    own = collection((2, 4), split)
    codes, generator = np.array([[0] * 60, [3] * 60]), rng.seeded(2)
    tallies = [one.tally(one.perturb(codes[:, :30], rng=generator)) for one in own.types]
    total = np.concatenate(tallies)
    assert [part.tolist() for part in own.split_tally(total)] == [part.tolist() for part in tallies]
    measured = own.measurement(tallies)
    assert own.counted(tallies).users == 30 * len(own.types)
    assert measured.answers.shape == (6,)
    assert measured.answers[:2].argmax() == 0
    assert measured.answers[2:].argmax() == 3


def test_a_report_type_without_an_answer_is_named():
    own = collection((2, 4), "users")
    tallies = [
        own.types[0].tally(np.zeros((3, 1), dtype=np.uint8)),
        own.types[1].tally(own.types[1].nothing),
    ]
    with pytest.raises(ValueError, match=r"no report is about attributes \[1\]; each needs"):
        own.measurement(tallies)


def test_types_are_drawn_evenly():
    drawn = collection((2, 4), "users").drawn(100_000, rng=rng.seeded(4))
    assert abs((drawn == 0).sum() - 50_000) < ALARM * math.sqrt(25_000)


def longitudinal(axes=(0, 1)):
    own = Rappor(candidates=("a", "b"), f="0.5", bits=16, cohorts=2)
    return about([own] * len(axes), axes)


def test_secrets_make_the_permanent_response_last():
    secrets = np.arange(32, dtype=np.uint8)[None]
    own = longitudinal()
    runs = [own.perturb(np.array([[1], [1]]), rng=rng.seeded(seed), secrets=secrets) for seed in range(200)]
    rates = np.unpackbits(np.concatenate(runs), axis=1, bitorder="little").mean(axis=0)
    bits = rates[np.r_[16:32, 48:64]]
    assert (np.abs(np.minimum(np.abs(bits - 0.5), np.abs(bits - 0.75))) < ALARM * math.sqrt(0.25 / 200)).all()
    assert (bits > 0.625).any()
    assert (bits < 0.625).any()
    assert (rates[16:32] > 0.625).tolist() != (rates[48:64] > 0.625).tolist()  # two attributes, two responses


def test_two_attributes_never_share_their_coins():
    secrets = np.arange(32, dtype=np.uint8)[None]
    own = one_way((2, 2), (longitudinal((0,)), longitudinal(), longitudinal((1,))))
    slots = [own.slot(number, bytes(range(16))) for number in range(3)]
    assert [slot.number for slot in slots] == [0, 1, 3]
    assert {slot.collection for slot in slots} == {bytes(range(16))}
    exact = {"f": "0.5", "p": 0, "q": 1}  # the permanent response itself
    oracle = RrLdp(sizes=(64,), **exact)
    codes = np.zeros((2, 1), dtype=np.int32)
    alone, both = about([oracle]), about([oracle, oracle], (0, 1))
    asked = [(alone, slots[0]), (both, slots[1]), (alone, slots[2])]
    found = np.concatenate(
        [one.perturb(codes, rng=rng.seeded(1), secrets=secrets, slot=slot).reshape(-1, 8) for one, slot in asked]
    )
    assert len(np.unique(found, axis=0)) == 4
    joint = RrLdp(sizes=(64, 64), **exact).perturb(codes, rng=rng.seeded(2), secrets=secrets, slot=slots[1])
    assert (joint.reshape(2, 8) == found[1:3]).all()
    assert both.lifetime.epsilon == 2 * oracle.lifetime.epsilon


@pytest.mark.parametrize("length", [1, 15, 65])
def test_a_secret_of_a_wrong_length(length):
    own = about([RrLdp(sizes=(4,), f="0.5")])
    with pytest.raises(ValueError, match=f"a secret must have 16 to 64 bytes, got {length}"):
        own.perturb(np.array([[1]]), rng=rng.seeded(1), secrets=np.zeros((1, length), dtype=np.uint8))


@pytest.mark.parametrize(
    "name", ["krr", "oue", "sue", "olh", "hadamard", "subset_selection", "rappor", "rr_ldp", "pcep", "pgr", "loloha"]
)
def test_every_oracle_serves_in_a_report_type(name):
    oracle = catalog.card(name).oracle(6, PureDP(epsilon=2))
    own = about([oracle])
    payloads = own.perturb(np.array([[0, 1, 5] * 50]), rng=rng.seeded(3))
    assert payloads.shape == (150, own.width)
    assert not any(mask.any() for mask in own.faults(payloads).values())
    halves = own.tally(payloads[:70]) + own.tally(payloads[70:])
    assert (halves == own.tally(payloads)).all()
    counts, variance = own.estimates(halves, 300)[0]
    assert counts.shape == variance.shape == (6,)
    assert (variance > 0).all()
