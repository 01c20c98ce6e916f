"""What the benchmarks on ranges share: strategies of the catalogue, random boxes, times and memory of a call."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from dpress import catalog
from dpress.core.basics import rng
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.losses.pure import PureDP
from dpress.core.basics.losses.zcdp import ZCDP
from dpress.core.maps.linear import Array
from dpress.core.maps.ranges import AllRanges, Ranges
from dpress.core.maps.workload import Boxes
from dpress.core.methods.mechanism import BoxDecoder
from dpress.mechanisms.linear.matrix_mechanism import MatrixMechanism
from dpress.mechanisms.linear.product import box_variances

EPSILON, RHO = "epsilon = 1", "rho = 0.5"
LOSSES: dict[str, PureDP | ZCDP] = {EPSILON: PureDP(epsilon=1), RHO: ZCDP(rho="0.5")}
UNDER_RHO = ("dst", "hierarchy", "privelet")
SECONDS = 5  # that `p_identity` searches
REPEATS = 5
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Case:
    """A strategy over boxes with a loss.

    Args:
        name: of the strategy.
        loss: in words.
        mechanism: ready to measure.
    """

    name: str
    loss: str
    mechanism: MatrixMechanism

    @property
    def decoder(self) -> BoxDecoder:
        """How boxes are answered."""
        decoder = self.mechanism.strategy.decoder
        assert isinstance(decoder, BoxDecoder)
        return decoder

    def variances(self, boxes: Sequence[Ranges]) -> Array:
        """Return the exact variance of every box under the noise that is drawn."""
        drawn = [noise.variance for noise in self.mechanism.noises]
        return box_variances(self.mechanism.strategy, boxes, drawn)


def cases(shape: Sequence[int], only: str = "") -> Iterator[Case]:
    """Yield every strategy, or one, that serves all boxes under epsilon; and some of them under rho."""
    for name, card in catalog.cards().items():
        for words, loss in LOSSES.items():
            if card.strategy is None or only not in {"", name} or (words == RHO and name not in UNDER_RHO):
                continue
            more = {"seconds": SECONDS} if "seconds" in card.parameters.__struct_fields__ else {}
            try:
                strategy = card.strategy(Boxes(tuple(map(AllRanges, shape))), loss, **more)
                if strategy is not None:
                    yield Case(name, words, MatrixMechanism(strategy=strategy, loss=loss))
            except NotSupported:
                continue


def case(name: str, cells: int) -> Case:
    """Return one strategy over one attribute, under epsilon if it takes that."""
    return next(cases((cells,), name))


def random_ranges(cells: int, number: int, source: rng.Generator) -> Ranges:
    """Return ranges, each equally likely: two different borders of the n + 1."""
    first = source.words(number) % np.uint64(cells + 1)
    second = source.words(number) % np.uint64(cells)
    second += second >= first
    left, right = np.minimum(first, second).astype(np.int64) + 1, np.maximum(first, second).astype(np.int64)
    return Ranges(cells, left, right)


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of a call that ran once before."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def once(call: Callable[[], T]) -> tuple[T, dict[str, float | None]]:
    """Return what a single call returns, its time, and the most memory in MiB that it took beyond what was taken."""
    before, start = _reset_peak(), time.perf_counter()
    found = call()
    taken = time.perf_counter() - start
    return found, {"seconds": taken, "mib": None if before is None else _status("VmHWM") - before}


def fresh(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a function returns in a process of its own, whose peak of memory is its own, too."""
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        return pool.submit(function, *args, **kwargs).result()


def _reset_peak() -> float | None:
    """Forget the peak of memory so far and return what is taken now; None where the system has no such thing."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # else what was freed before, and kept, would hide what is taken now
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return None
    return _status("VmRSS")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def data(name: str) -> Path | None:
    """Return a file of the reference data, None where it is absent."""
    path = Path(os.environ.get("DPRESS_DATA", "../shared/data")) / name
    return path if path.is_file() else None


def say(text: str) -> None:
    """Report progress on standard error."""
    print(text, file=sys.stderr, flush=True)
