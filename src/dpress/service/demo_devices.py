"""Made-up people's devices, as a program: each answers once, and they send in batches over HTTP at a watchable pace."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dpress.core.basics.errors import ReportRejected
from dpress.core.basics.rng import secure
from dpress.data.example_people import people
from dpress.query.designs import load_design
from dpress.release.devices.device import Device, device
from dpress.release.devices.send_reports import send_reports

PACE = 0.25  # seconds between two batches
FIRST, GROWTH, LARGEST = 10, 1.05, 400  # reports in a batch


def send(device: Device, url: str, rows: Iterator[dict[str, Any]]) -> None:
    """Send every row's report, more and more at a time.

    Raises:
        OSError: the service does not answer.
    """
    rng, size = secure(), float(FIRST)
    while batch := list(islice(rows, int(size))):
        send_reports(url, [device.answer(device.codes(row), rng=rng, once=True) for row in batch])
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
    except (OSError, ReportRejected):
        sys.exit(1)  # the service is gone


if __name__ == "__main__":
    main(*sys.argv[1:])
