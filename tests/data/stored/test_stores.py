"""Both stores keep the same promises."""

import itertools
import threading

import numpy as np
import pytest

from dpress.data.stored import postgres_store, report_store, sqlite_store
from dpress.data.stored.report_store import KEY_BITS, Upload, bounds
from dpress.data.stored.store_url import open_store

ASK, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def store(opened):
    return opened(create=True)


def upload(text, place=0, reports=1):
    return Upload(place=place, reports=reports, body=text)


def texts(store, place=0):
    return sorted(store.bodies(place))


def test_a_round_begins_once(store):
    first = store.begin(ASK, 0, "design")
    assert (first.place, first.ask, first.number, first.design, first.closed) == (0, ASK, 0, "design", False)
    assert store.begin(ASK, 0, "design") == first
    assert store.begin(ASK, 1, "design").place == 1
    assert store.begin(OTHER, 0, "another").place == 2
    with pytest.raises(ValueError, match="the store has another design for round 0 of collection aaaa"):
        store.begin(ASK, 0, "another")
    assert [(one.ask, one.number) for one in store.rounds()] == [(ASK, 0), (ASK, 1), (OTHER, 0)]


def test_one_round_follows_another_whoever_begins_it(store):
    store.begin(ASK, 0, "design")
    store.begin(OTHER, 0, "of another collection")
    following = store.begin("c" * 64, 1, "planned here", after=0)
    assert (following.place, following.after) == (2, 0)
    assert store.begin("c" * 64, 1, "planned here", after=0) == following
    assert store.begin("d" * 64, 1, "planned otherwise", after=0) == following
    assert store.begin("d" * 64, 1, "of the other collection", after=1).place == 3
    assert [one.after for one in store.rounds()] == [None, None, 0, 1]


def test_what_is_added_is_read(store, opened):
    store.begin(ASK, 0, "design")
    store.begin(OTHER, 0, "design")
    assert store.add([upload(b"one"), upload(b"two", reports=3), upload(b"else", place=1)], {}) == set()
    assert store.add([upload(b"three")], {(0, "late"): 2, (1, "long"): 1}) == set()
    assert store.add([], {(0, "late"): 5}) == set()
    again = opened()
    assert texts(again) == [b"one", b"three", b"two"]
    assert texts(again, 1) == [b"else"]
    assert (again.reports(0), again.reports(1)) == (5, 1)
    assert (again.refused(0), again.refused(1)) == ({"late": 7}, {"long": 1})


def test_keys_are_random_sorted_and_of_their_round(store):
    for number in range(3):
        store.begin(ASK, number, "design")
    for number in range(20):
        store.add([upload(bytes([number]), place=number % 2)], {})
    keys = store.keys(0)
    assert keys.dtype == np.int64
    assert (np.diff(keys) > 0).all()
    assert (keys >> KEY_BITS == 0).all()
    assert (store.keys(1) >> KEY_BITS == 1).all()
    assert len(keys) == len(store.keys(1)) == 10
    assert store.keys(2).size == store.reports(2) == 0
    in_order = list(store.bodies(0))
    assert in_order != sorted(in_order)  # chance 1 / 10!, of keys that are drawn anew
    assert list(store.bodies(0, keys.tolist())) == in_order
    assert list(store.bodies(0, keys[3:7].tolist())) == in_order[3:7]
    assert bounds(0)[1] + 1 == bounds(1)[0]


def test_more_keys_than_one_statement_names(store, monkeypatch):
    for module in (sqlite_store, postgres_store):
        monkeypatch.setattr(module, "MOST_NAMED", 3)
    store.begin(ASK, 0, "design")
    store.add([upload(bytes([number])) for number in range(10)], {})
    keys = store.keys(0).tolist()
    assert list(store.bodies(0, keys)) == list(store.bodies(0))
    assert len(keys) == 10


def test_a_closed_round_keeps_nothing_more(store):
    for number in range(2):
        store.begin(ASK, number, "design")
    store.add([upload(b"before")], {})
    store.close(0)
    store.close(0)
    assert store.add([upload(b"late"), upload(b"other", place=1)], {(0, "r"): 1, (1, "r"): 1}) == {0}
    assert store.add([], {(0, "r"): 1}) == {0}
    assert (texts(store), texts(store, 1)) == ([b"before"], [b"other"])
    assert (store.refused(0), store.refused(1)) == ({}, {"r": 1})
    assert [one.closed for one in store.rounds()] == [True, False]


def test_a_round_that_there_is_not_keeps_nothing(store):
    store.begin(ASK, 0, "design")
    assert store.add([upload(b"nowhere", place=7), upload(b"here")], {(9, "r"): 1}) == {7, 9}
    assert texts(store) == [b"here"]
    assert texts(store, 7) == []


def test_a_key_that_is_taken_is_drawn_again(store, monkeypatch):
    store.begin(ASK, 0, "design")
    drawn = itertools.chain([[5], [6, 6], [6, 7], [7, 8], [8, 9]])
    for module in (sqlite_store, postgres_store):
        monkeypatch.setattr(module, "drawn_keys", lambda places: next(drawn))  # noqa: ARG005
    store.add([upload(b"five")], {})
    store.add([upload(b"six"), upload(b"seven")], {(0, "r"): 1})  # one key for two uploads: the second try
    store.add([upload(b"eight"), upload(b"nine")], {(0, "r"): 1})  # 7 is taken
    assert list(store.bodies(0)) == [b"five", b"six", b"seven", b"eight", b"nine"]
    assert store.refused(0) == {"r": 2}  # no try counts twice


def test_all_or_nothing(store):
    store.begin(ASK, 0, "design")
    with pytest.raises(OSError, match="cannot be used"):
        store.add([upload(b"good"), upload(None)], {(0, "r"): 1})
    assert texts(store) == []
    assert store.refused(0) == {}
    store.add([upload(b"next")], {})
    assert texts(store) == [b"next"]


def test_threads_write_at_the_same_time(store, opened):
    other = opened()
    store.begin(ASK, 0, "design")

    def work(own, name):
        for number in range(6):
            own.add([upload(name + bytes([number]))], {(0, "r"): 1})

    whose = ((store, b"a"), (store, b"b"), (other, b"c"))
    both = [threading.Thread(target=work, args=one) for one in whose]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert texts(store) == sorted(name + bytes([number]) for name in (b"a", b"b", b"c") for number in range(6))
    assert store.refused(0) == {"r": 18}


def test_rounds_that_two_begin_at_once_have_places_of_their_own(store, opened):
    other, errors = opened(), []

    def work(own, asks):
        try:
            for ask in asks:
                own.begin(ask, 0, "design")
        except Exception as error:  # noqa: BLE001  # shown below
            errors.append(error)

    names = [f"{number:064x}" for number in range(12)]
    both = [threading.Thread(target=work, args=(own, own_names)) for own, own_names in ((store, names), (other, names))]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert errors == []
    assert sorted(one.place for one in store.rounds()) == list(range(12))
    assert {one.ask for one in store.rounds()} == set(names)


def test_reading_is_one_look(store, opened):
    """What arrives while the uploads are read does not appear among them."""
    store.begin(ASK, 0, "design")
    store.add([upload(bytes([number])) for number in range(5)], {})
    reading = opened().bodies(0)
    first = next(reading)
    store.add([upload(bytes([number])) for number in range(5, 10)], {})
    assert sorted([first, *reading]) == [bytes([number]) for number in range(5)]
    assert len(texts(store)) == 10


def test_the_store_is_full(store, monkeypatch):
    for module in (sqlite_store, postgres_store):
        monkeypatch.setattr(module, "MOST_ROUNDS", 1)
    store.begin(ASK, 0, "design")
    with pytest.raises(OSError, match="is full: it has 1 rounds"):
        store.begin(ASK, 1, "design")
    assert len(store.rounds()) == 1


def test_no_key_is_larger_than_the_column():
    assert bounds(report_store.MOST_ROUNDS - 1)[1] == 2**63 - 1


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("sqlite:reports.db", "must be sqlite:///FILE or postgresql://"),
        ("sqlite:///", "must be sqlite:///FILE"),
        ("mysql://x", "got 'mysql'"),
        ("reports.db", "got 'reports.db'"),
    ],
)
def test_urls_of_another_kind(url, message):
    with pytest.raises(ValueError, match=message):
        open_store(url)
