"""How long something takes, as numbers of times below bounds: what Prometheus adds up over processes."""

import bisect
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # seconds


@dataclass(slots=True)
class Histogram:
    """Counts of durations; one thread writes them, any may read.

    Args:
        counts: of durations up to each bound of `BOUNDS` and above the one before; then of those above all.
        seconds: of all together.

    >>> histogram = Histogram()
    >>> histogram.observe(0.004)
    >>> histogram.observe(60)
    >>> histogram.cumulative[:4], histogram.cumulative[-2:]
    ([0, 0, 1, 1], [1, 2])
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one duration."""
        self.counts[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count how long the block takes, however it ends."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.observe(time.monotonic() - started)

    @property
    def cumulative(self) -> list[int]:
        """The counts up to each bound, and at last of all."""
        return list(itertools.accumulate(self.counts))
