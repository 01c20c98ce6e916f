"""Made-up people's devices, as a program: each answers once, and they send in batches over HTTP at a watchable pace."""

import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dpress.core.basics.rng import secure
from dpress.data.example_people import people
from dpress.query.designs import load_design
from dpress.release.devices.device import Device, device
from dpress.service.reports_route import MEDIA_TYPE

PACE = 0.25  # seconds between two batches
FIRST, GROWTH, LARGEST = 10, 1.05, 400  # reports in a batch
PATIENCE = 30.0  # seconds for an answer of the service


def send(device: Device, url: str, rows: Iterator[dict[str, Any]]) -> None:
    """Send every row's report, more and more at a time.

    Raises:
        OSError: the service does not answer.
    """
    rng, size = secure(), float(FIRST)
    while batch := list(islice(rows, int(size))):
        body = b"".join(device.answer(device.codes(row), rng=rng, once=True) for row in batch)
        request = urllib.request.Request(f"{url}/reports", data=body, headers={"Content-Type": MEDIA_TYPE})  # noqa: S310  # the address of our own service
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            answer.read()
        size = min(size * GROWTH, LARGEST)
        time.sleep(PACE)


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)  # returns at the end of the pipe
    os._exit(0)


def main(path: str, url: str) -> None:
    """Send until all have answered, or whoever started this program ends.

    Args:
        path: of the design.
        url: of the collection.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        send(device(load_design(path)), url, iter(people().to_pylist()))
    except (OSError, urllib.error.URLError):
        sys.exit(1)  # the service is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
