"""Which connection gives way: one of who has most, never one of somebody else; what is forgotten is forgotten."""

import resource

from hypothesis import given
from hypothesis import strategies as st

from dpress.service import connection_places
from dpress.service.connection_places import Places, most_connections, network


def test_who_has_most_gives_up_the_one_that_waited_longest():
    own = Places(3)
    assert [own.add(one, (host, 1)) for one, host in ((1, "a"), (2, "b"), (3, "a"))] == [None] * 3
    own.heard(1)
    assert own.add(4, ("a", 2)) == 3
    assert own.add(5, ("c", 1)) == 1
    assert own.add(6, ("c", 2)) == 5  # its address has most by now


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abc"), st.sampled_from(("add", "heard", "remove")))))
def test_it_never_holds_more_than_it_may_nor_takes_from_who_has_fewer(steps):
    own, open_now, number = Places(5), {}, 0
    for place, host, act in steps:
        if act == "add":
            number += 1
            open_now[number] = host
            gone = own.add(number, (host, 1))
            if gone is not None:
                counts = [list(open_now.values()).count(one) for one in set(open_now.values())]
                assert list(open_now.values()).count(open_now.pop(gone)) == max(counts)
        elif act == "heard":
            own.heard(place)
        else:
            own.remove(place)
            open_now.pop(place, None)
        assert len(open_now) == len(own._networks) <= 5
        assert set(own._by_network) == set(open_now.values())


def test_a_network_of_ipv6_is_one_address_and_ipv4_within_it_is_told_apart():
    assert network(("2001:db8:0:1::1%eth0", 1)) == network(("2001:db8:0:1:ffff::", 2))
    assert network(("2001:db8:0:1::1", 1)) != network(("2001:db8:0:2::1", 1))
    assert network(("::ffff:10.0.0.1", 1)) == network(("10.0.0.1", 1)) != network(("10.0.0.2", 1))
    assert network(None) == ""


def test_places_are_half_of_the_descriptors_at_most(monkeypatch):
    limits = {"now": (256, 300)}
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits["now"])
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: limits.update(now=both))
    assert (most_connections(), limits["now"]) == (150, (300, 300))
    limits["now"] = (1024, resource.RLIM_INFINITY)
    assert (most_connections(), limits["now"][0]) == (connection_places.MOST, 2 * connection_places.MOST)
    limits["now"] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert most_connections() == connection_places.MOST
