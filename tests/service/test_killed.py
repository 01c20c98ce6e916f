"""A service that is killed while it takes uploads: what it acknowledged is counted once, and nothing else is there."""

import contextlib
import http.client
import itertools
import os
import random  # noqa: TID251  # moments of a kill, no noise
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.service.served import TYPE, design, numbered

from dpress.core.reports.wire import Expected
from dpress.data.stored.store_url import open_store
from dpress.data.stored.stored_reports import StoredReports
from dpress.document.design import report_id
from dpress.query.designs import save_design

SCRIPT = Path(__file__).with_name("forked_service.py")
SENDERS = 3
BATCH = 20


class Clients:
    """Senders with uploads of their own ids, who send again what was not acknowledged."""

    def __init__(self, asked):
        self.asked, self.numbers = asked, itertools.count()
        self.sent, self.acknowledged, self.unknown = set(), set(), []

    def life(self, port, stop):
        """Send until the service is gone; return the threads."""
        senders = [threading.Thread(target=self._send, args=(port, stop)) for _ in range(SENDERS)]
        for one in senders:
            one.start()
        return senders

    def _send(self, port, stop):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while not stop.is_set():
            upload = self.unknown.pop() if self.unknown else next(self.numbers)
            self.sent.add(upload)
            try:
                connection.request(
                    "POST",
                    f"/v1/collections/{self.asked.id}/reports",
                    numbered(self.asked, upload * BATCH, BATCH),
                    {"Content-Type": TYPE},
                )
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                self.unknown.append(upload)
                break
            assert (answer.status, body) == (200, b'{"accepted":20,"duplicates":0,"refused":[]}')
            self.acknowledged.add(upload)
        connection.close()


def killed(folder, url, times, *mode, seed=1):
    """Kill the service so often; return what the clients know, and the number of times each upload is counted."""
    asked, draw = design(), random.Random(seed)
    save_design(asked, folder / "design.json")
    clients = Clients(asked)
    with subprocess.Popen(
        [sys.executable, SCRIPT, folder / "design.json", url, *mode],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as program, contextlib.ExitStack() as stack:  # fmt: skip
        for life in range(times + 1):
            print(file=program.stdin, flush=True)
            process, port = map(int, program.stdout.readline().split())
            stack.callback(end, process)
            before, stop = len(clients.acknowledged), threading.Event()
            senders = clients.life(port, stop)
            while len(clients.acknowledged) < before + draw.randrange(1, 30):
                time.sleep(0.001)
            time.sleep(draw.random() / 50)
            if life == times:  # the last one may finish
                stop.set()
                wait(senders)
            stack.close()
            wait(senders)
        program.stdin.close()
    return clients, counted(asked, url)


def end(process):
    """Kill one process, which is the service, also where the test has failed."""
    os.kill(process, signal.SIGKILL)


def wait(senders):
    for one in senders:
        one.join()


def counted(asked, url):
    """Return how often each upload's reports are counted; whole uploads only."""
    store = open_store(url)
    try:
        expected = Expected(ask=report_id(asked.ask), widths=(1,))
        reader = StoredReports(store=store, place=0, keys=store.keys(0), expected=expected)
        numbers = sorted(int.from_bytes(bytes(one), "big") for _, ids in reader.named() for one in ids)
    finally:
        store.disconnect()
    assert len(set(numbers)) == len(numbers)
    assert all(numbers[place : place + BATCH] == [*range(numbers[place], numbers[place] + BATCH)]
               for place in range(0, len(numbers), BATCH))  # fmt: skip
    return {one // BATCH for one in numbers}


@pytest.mark.slow
@pytest.mark.parametrize("times", [10, pytest.param(50, marks=pytest.mark.long)])
def test_what_is_acknowledged_is_counted_once_and_nothing_is_invented(tmp_path, store_url, times):
    clients, found = killed(tmp_path, store_url, times)
    assert clients.acknowledged <= found
    assert found <= clients.sent
    assert len(clients.acknowledged) > times


@pytest.mark.slow
def test_a_store_that_acknowledges_before_its_commit_is_caught(tmp_path, store_url):
    clients, found = killed(tmp_path, store_url, 5, "hasty")
    assert clients.acknowledged - found
