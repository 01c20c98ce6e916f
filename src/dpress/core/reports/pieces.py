"""Work in pieces: a kernel on every piece, somewhere, and the results in the pieces' order, whoever was quicker.

pieces -> kernel, on threads here or on another machine -> results in order. A sum in that order is a function of
the pieces alone.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from dpress.core.reports.oracle import Payloads

if TYPE_CHECKING:
    from concurrent.futures import Future

THREADS = 2
WAITING = 4  # results, at most, that wait for their turn

T = TypeVar("T")
R = TypeVar("R")


class Run(Protocol):
    """An engine: runs a kernel on every item."""

    def __call__(self, kernel: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        """Yield the results in the items' order.

        Args:
            kernel: pure. An engine of other processes sends it there by cloudpickle.
            items: pieces of work.
        """
        ...


class PayloadPieces(Protocol):
    """The sound payloads of a collection's reports, piece by piece; every call is a pass over all of them."""

    def __call__(self, kernel: Callable[[Iterable[Payloads]], R], /) -> Iterator[R]:
        """Yield what the kernel returns for every piece, in the pieces' order.

        Args:
            kernel: pure; takes the payloads of a piece, shape (reports, width) a batch.
        """
        ...


def on_threads(kernel: Callable[[T], R], items: Iterable[T], *, threads: int = THREADS) -> Iterator[R]:
    """Yield the results in the items' order; at most WAITING + 1 of them, and their items, are in memory.

    Args:
        kernel: pure.
        items: taken one after the other by the calling thread.
        threads: how many; one is the calling thread itself.
    """
    if threads == 1:
        yield from map(kernel, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # brings logging; only who has work needs it

    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(kernel, item))
                if len(waiting) > WAITING:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def no_payloads(kernel: Callable[[Iterable[Payloads]], R], /) -> Iterator[R]:
    """Yield nothing: there are no reports, as where a release is read."""
    del kernel
    return iter(())
