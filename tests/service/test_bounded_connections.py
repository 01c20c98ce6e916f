"""A service under attack from one address keeps its memory and its descriptors, and serves the others.

Each attack is bounded, and stays on this machine; with the limits off the same test trips.
"""

import contextlib
import socket
import time

import pytest
from tests.service.served import check_served, head, numbered

from dpress.service import bounded_protocol

MEGABYTE = 1 << 20
BOUND = 8 * MEGABYTE  # of memory that an attack may cost: what a served upload costs is less
READERS, REQUESTS = 60, 60
PATIENCE = 4800  # looks, a quarter of a second apart
FEW = 160  # descriptors of the process that has few
LINE = b"x-filler: " + b"a" * 1000 + b"\r\n"
STARTS = {
    "lines of a head": (b"GET /healthz HTTP/1.1\r\n", LINE),
    "a line without end": (b"GET /healthz HTTP/1.1\r\nx-filler: ", b"a" * 1000),
    "an address without end": (b"GET /", b"a" * 1000),
    "many short fields": (b"GET /healthz HTTP/1.1\r\n", b"a:\r\n" * 250),
}


def attack(connected, port, start, piece, megabytes):
    """Send so much of a head, as far as it is taken; return how many bytes were."""
    own, sent = connected(port, start), len(start)
    own.settimeout(1200)
    block = piece * (MEGABYTE // (4 * len(piece)))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        for _ in range(4 * megabytes):
            own.sendall(block)
            sent += len(block)
    return sent


def slow_readers(connected, port, count):
    """Ask again and again for a file, and read nothing of it, until the test ends."""
    ask = b"GET /client.js HTTP/1.1\r\nHost: service\r\n\r\n"
    readers = [connected(port, ask, window=4096) for _ in range(count)]
    for _ in range(REQUESTS):
        for one in readers:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError, BlockingIOError):
                one.setblocking(False)
                one.send(ask)


def held_after(service, count, looks=PATIENCE):
    """Return how many more descriptors than before are open, once none is or after so many looks."""
    for _ in range(looks):
        if service.descriptors <= count:
            break
        time.sleep(0.25)
    return service.descriptors - count


@pytest.mark.slow
@pytest.mark.parametrize("kind", STARTS)
def test_a_head_without_end_costs_no_memory(service, connected, asked, kind):
    own = service("impatient")
    check_served(own.port, asked)
    before = own.memory
    sent = [attack(connected, own.port, *STARTS[kind], 6) for _ in range(8)]
    assert own.memory - before < BOUND
    assert max(sent) < 6 * MEGABYTE  # the service closed the connection
    check_served(own.port, asked)
    assert own.memory - before < BOUND


@pytest.mark.slow
def test_trailers_without_end_cost_no_memory(service, connected, asked):
    own = service("impatient")
    check_served(own.port, asked)
    start = head(asked, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked") + b"1\r\na\r\n0\r\n"
    before = own.memory
    sent = [attack(connected, own.port, start, LINE, 6) for _ in range(4)]
    assert own.memory - before < BOUND
    assert max(sent) < 6 * MEGABYTE


@pytest.mark.slow
def test_who_does_not_read_is_closed_and_costs_no_memory(service, connected, asked):
    own = service("impatient")
    check_served(own.port, asked)
    memory, descriptors = own.memory, own.descriptors
    for _ in range(2):  # a soak: the second attack finds what the first one left
        slow_readers(connected, own.port, READERS)
        check_served(own.port, asked, 3)
        assert held_after(own, descriptors) <= 0
        assert own.memory - memory < 2 * BOUND
    check_served(own.port, asked)


@pytest.mark.slow
def test_others_are_served_while_one_address_takes_all_places(service, connected, asked):
    own = service("few")
    many = [connected(own.port) for _ in range(260)]
    check_served(own.port, asked, sender="127.0.0.2")
    assert own.descriptors <= FEW * 3 // 4
    many += [connected(own.port) for _ in range(100)]
    kept = socket.create_connection(("127.0.0.1", own.port), source_address=("127.0.0.3", 0))
    many += [connected(own.port, b"GET /healthz HTTP/1.1\r\n") for _ in range(200)]
    check_served(own.port, asked, sender="127.0.0.2")
    kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: service\r\n\r\n")
    assert kept.recv(100).startswith(b"HTTP/1.1 200 OK")  # of the many one after the other had to go
    kept.close()


@pytest.mark.slow
def test_without_limits_each_attack_succeeds(service, connected, asked):
    own = service("unlimited")
    check_served(own.port, asked)
    memory, descriptors = own.memory, own.descriptors
    sent = [attack(connected, own.port, *STARTS["lines of a head"], 6) for _ in range(4)]
    assert min(sent) > 6 * MEGABYTE - len(LINE) * 4
    assert own.memory - memory > BOUND
    slow_readers(connected, own.port, READERS)
    assert held_after(own, descriptors, looks=16) >= READERS
    few = service("few", "unlimited")
    _ = [connected(few.port) for _ in range(260)]
    assert held_after(few, 0, looks=16) >= FEW - 2  # nobody else gets one


@pytest.mark.slow
def test_what_is_refused_hears_why(service, connected, asked):
    port = service().port
    most = bounded_protocol.LARGEST_HEAD

    def answer(sent):
        own, heard = connected(port, sent), b""
        own.settimeout(1200)
        with contextlib.suppress(ConnectionResetError):
            while piece := own.recv(1000):
                heard += piece
        return heard

    fitting = b"GET /healthz HTTP/1.1\r\nHost: s\r\nConnection: close\r\nx-a: " + b"a" * (most - 100) + b"\r\n\r\n"
    assert answer(fitting).startswith(b"HTTP/1.1 200 OK")
    larger = fitting.replace(b"x-a: ", b"x-a: " + b"a" * 100)
    assert answer(larger).startswith(b"HTTP/1.1 431 head too large\r\n")
    fields = b"GET /healthz HTTP/1.1\r\n" + b"".join(b"x-%d: 1\r\n" % one for one in range(101)) + b"\r\n"
    assert b"the head of a request may have 65,536 bytes and 100 fields" in answer(fields)
    assert answer(b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 malformed\r\n")
    after = numbered(asked, 0, 100)  # a body is no head, and the next head is counted anew
    own = connected(port, (head(asked, len(after)) + after) * 2)
    heard = b""
    while heard.count(b'"accepted":100') < 2:
        heard += own.recv(1000)
    many = b"GET /healthz HTTP/1.1\r\n\r\n" * 40
    assert b"send a request once the one before it is answered" in answer(many)
