"""Sends uploads to a service as fast as it takes them, or at a steady rate, and says how long each answer took.

python bench/service_load.py '{"host": ..., "port": ..., "path": ..., "ask": ..., "uploads": ..., "batch": ...,
"connections": ..., "rate": null}'

One thread, raw sockets that stay open. Every report has an id of its own; its payload is one byte. With a rate, an
answer's time counts from the moment at which the upload was due, whether or not a connection was free then.
"""

import json
import os
import selectors
import socket
import sys
import time
from collections import deque
from typing import Any

import numpy as np

HEAD = (
    "POST {path} HTTP/1.1\r\nHost: service\r\nContent-Type: application/vnd.dpress.reports\r\n"
    "Content-Length: {length}\r\n\r\n"
)
ENOUGH = 1 << 16
ID_AT = 22  # in a report


def template(ask: bytes, batch: int) -> np.ndarray:
    """Return reports of one byte each, whose ids are still to be filled in, shape (batch, bytes)."""
    one = b"\x96\x02\xc4\x10" + ask + b"\xc4\x10" + bytes(16) + b"\x00\x00\xc4\x01\x01"
    return np.tile(np.frombuffer(one, dtype=np.uint8), (batch, 1))


class Uploads:
    """Requests, each with new ids."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.reports = template(bytes.fromhex(asked["ask"])[:16], asked["batch"])
        self.head = HEAD.format(path=asked["path"], length=self.reports.size).encode()

    def next(self) -> bytes:
        """Return a whole request."""
        ids = np.frombuffer(os.urandom(16 * len(self.reports)), dtype=np.uint8)
        self.reports[:, ID_AT : ID_AT + 16] = ids.reshape(-1, 16)
        return self.head + self.reports.tobytes()


class Connection:
    """One socket and the answer that it waits for."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.socket = socket.create_connection((asked["host"], asked["port"]))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due = 0.0
        self.found = b""

    def send(self, request: bytes, due: float) -> None:
        """Send a request that was due at some moment."""
        self.due, self.found = due, b""
        self.socket.sendall(request)

    def answered(self) -> int | None:
        """Read on, and return the status once the answer is whole."""
        piece = self.socket.recv(ENOUGH)
        if not piece:
            raise SystemExit("the service closed a connection")
        self.found += piece
        head, end, body = self.found.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(head[9:12]) if len(body) >= length else None


def run(asked: dict[str, Any]) -> dict[str, Any]:
    """Send all uploads and return seconds and latencies."""
    uploads, selector = Uploads(asked), selectors.DefaultSelector()
    idle = deque(Connection(asked) for _ in range(asked["connections"]))
    for one in idle:
        selector.register(one.socket, selectors.EVENT_READ, one)
    rate, left, waiting = asked["rate"], asked["uploads"], 0
    latencies: list[float] = []
    statuses: dict[int, int] = {}
    begin = time.perf_counter()
    while left or waiting:
        now = time.perf_counter()
        due = begin + (asked["uploads"] - left) / rate if rate else now
        while left and idle and due <= now:
            idle.popleft().send(uploads.next(), due)
            left, waiting = left - 1, waiting + 1
            due = begin + (asked["uploads"] - left) / rate if rate else now
        pause = max(due - time.perf_counter(), 0) if rate and left and idle else None
        for key, _ in selector.select(pause):
            if (status := key.data.answered()) is not None:
                latencies.append(time.perf_counter() - key.data.due)
                statuses[status] = statuses.get(status, 0) + 1
                waiting -= 1
                idle.append(key.data)
    seconds = time.perf_counter() - begin
    told = np.percentile(latencies, [50, 99, 100]) * 1000
    return {
        "uploads_per_second": asked["uploads"] / seconds,
        "reports_per_second": asked["uploads"] * asked["batch"] / seconds,
        "statuses": statuses,
        **dict(zip(("p50_ms", "p99_ms", "longest_ms"), told.tolist(), strict=True)),
    }


if __name__ == "__main__":
    print(json.dumps(run(json.loads(sys.argv[1]))))
