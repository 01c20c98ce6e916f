"""The reports' likelihoods as a fold in bounded memory: kept where their distinct ones fit, else read anew every pass.

payloads, batch by batch -> distinct reports and their counts -> halves in memory; or, where those are too many, batches
-> halves of a block of rows -> kernel -> sum, on a few threads, at every call.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpress.core.linear import Array
from dpress.core.oracle import Payloads
from dpress.inference.joint.likelihood import (
    BLOCK,
    THREADS,
    Floats,
    Fold,
    Halves,
    Kernel,
    Split,
    in_memory,
    one_blas_thread,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

MEMORY = 4 << 30  # bytes of halves that are kept
PIECE = 1 << 15  # reports that a thread takes at a time
WAITING = 1 << 18  # reports, at least, that are read before they are merged with the distinct ones
Batches = Callable[[], Iterable[Payloads]]
Likelihoods = Callable[[Payloads], list[Floats]]
Words = npt.NDArray[np.uint64]


def bit_fold(payloads: Batches, likelihoods: Likelihoods, split: Split, *, memory: int = MEMORY) -> Fold:
    """Return the fold over all reports; equal ones are counted once where that makes them fit.

    Memory: 4 (a + b) bytes a distinct report, at most `memory`; while distinct reports are looked for, some 100 bytes
    and four times its payload for each of twice as many; where they do not fit, then that of `streamed`.

    Args:
        payloads: reads all reports anew at every call, shape (reports, width) a batch.
        likelihoods: of a batch, one matrix (reports, n_j) for every attribute.
        split: of the attributes.
        memory: bytes that the halves of the distinct reports may take.

    Raises:
        ValueError: there is no report.
    """
    found = _distinct(payloads(), memory // (4 * sum(split.shape)))
    return streamed(payloads, likelihoods, split) if found is None else in_memory(_kept(found, likelihoods, split))


def streamed(payloads: Batches, likelihoods: Likelihoods, split: Split, *, threads: int = THREADS) -> Fold:
    """Return the fold that reads all reports anew at every call, and forms their halves on threads of its own.

    Memory: two batches as they are read; for every thread 2^11 rows of halves, a few times 2^11 * 4 (a + b) bytes, and
    two results; independent of the number of reports.

    Args:
        payloads: reads all reports anew at every call.
        likelihoods: of a batch, one matrix (reports, n_j) for every attribute.
        split: of the attributes.
        threads: how many, one BLAS thread each.
    """

    def share(kernel: Kernel, piece: Payloads) -> Array:
        blocks = (piece[start : start + BLOCK] for start in range(0, len(piece), BLOCK))
        return _sum(kernel(split.halves(likelihoods(block))) for block in blocks)

    def fold(kernel: Kernel) -> Array:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # brings logging; only a pass needs it

        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            return _sum(_results(pool.submit(share, kernel, piece) for piece in _pieces(payloads())))

    def _results(futures: Iterator["Future[Array]"]) -> Iterator[Array]:
        waiting: deque[Future[Array]] = deque()
        for future in futures:
            waiting.append(future)
            if len(waiting) > threads:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()

    return fold


def _pieces(batches: Iterable[Payloads]) -> Iterator[Payloads]:
    for batch in batches:
        for start in range(0, len(batch), PIECE):
            yield batch[start : start + PIECE]


def _sum(arrays: Iterable[Array]) -> Array:
    """Return the sum in the order of arrival, so that it does not depend on the threads."""
    total: Array | None = None
    for array in arrays:
        if total is None:
            total = array
        else:
            total += array
    if total is None:
        raise ValueError("there is no report to fit to")
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class _DistinctReports:
    """Distinct reports.

    Args:
        payloads: shape (distinct, width).
        counts: how often every one occurs.
    """

    payloads: Payloads
    counts: npt.NDArray[np.int64]


def _distinct(batches: Iterable[Payloads], most: int) -> _DistinctReports | None:
    """Return the distinct reports; None as soon as there are more than `most`.

    As many reports are merged at a time as are known already, so that each is sorted a few times only.
    """
    parts: list[_DistinctReports] = []
    known = waiting = 0
    for piece in _pieces(batches):
        parts.append(_DistinctReports(payloads=piece, counts=np.ones(len(piece), dtype=np.int64)))
        waiting += len(piece)
        if waiting >= max(WAITING, known):
            parts, waiting = [_merged(parts)], 0
            known = len(parts[0].counts)
            if known > most:
                return None
    if not parts:
        raise ValueError("there is no report to fit to")
    found = _merged(parts)
    return found if len(found.counts) <= most else None


def _merged(parts: list[_DistinctReports]) -> _DistinctReports:
    payloads = np.concatenate([part.payloads for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    words = _words(payloads)
    order = np.lexsort(words.T) if words.shape[1] > 1 else np.argsort(words[:, 0])
    ordered = words[order]
    starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    return _DistinctReports(payloads=payloads[order[starts]], counts=np.add.reduceat(counts[order], starts))


def _words(payloads: Payloads) -> Words:
    """Return the bytes of every report as words of 8, shape (reports, words), the last one filled up with zeros."""
    padded = np.zeros((len(payloads), -(-payloads.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : payloads.shape[1]] = payloads
    return padded.view(np.uint64)


def _kept(found: _DistinctReports, likelihoods: Likelihoods, split: Split) -> Halves:
    """Return the halves of all distinct reports, made block by block, so that there is one copy of them."""
    rows, (left, right) = len(found.counts), split.shape
    kept = Halves(
        left=np.empty((rows, left), dtype=np.float32),
        right=np.empty((rows, right), dtype=np.float32),
        counts=found.counts.astype(np.float64),
    )
    for start in range(0, rows, BLOCK):
        own = slice(start, start + BLOCK)
        block = split.halves(likelihoods(found.payloads[own]))
        kept.left[own], kept.right[own] = block.left, block.right
    return kept
