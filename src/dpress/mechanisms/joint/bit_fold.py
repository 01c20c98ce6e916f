"""The reports' likelihoods as a fold in bounded memory: kept where their distinct ones fit, else read anew every pass.

payloads, piece by piece -> distinct reports and counts -> halves in memory; or, where those are too many, payloads of
a piece -> halves of a block of rows -> kernel -> sum of the piece -> sum in the pieces' order, at every call. The
blocks are cut from a piece's payloads alone, so that every engine adds up the same numbers in the same order.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Payloads
from dpress.core.reports.pieces import PayloadPieces, on_threads
from dpress.inference.joint.likelihood import (
    BLOCK,
    Floats,
    Fold,
    Halves,
    Kernel,
    Split,
    added,
    in_memory,
    single_blas_thread,
)

MEMORY = 4 << 30  # bytes of halves that are kept, and of distinct reports while they are looked for
SEARCHED = 256  # bytes of a distinct report while it is looked for, its payload of up to 24 among them
WAITING = 1 << 18  # reports, at least, that are read before they are merged with the distinct ones
Likelihoods = Callable[[Payloads], list[Floats]]
Words = npt.NDArray[np.uint64]


def bit_fold(payloads: PayloadPieces, likelihoods: Likelihoods, split: Split, *, memory: int = MEMORY) -> Fold:
    """Return the fold over all reports; equal ones are counted once where that makes them fit.

    Memory: at most `memory`: 4 (a + b) bytes a distinct report, and before some 90 bytes and six times its payload
    while they are looked for, more than `memory` only where payloads are longer than 24 bytes; where they do not fit,
    then that of `streamed`.

    Args:
        payloads: reads all reports anew at every call.
        likelihoods: of a batch, one matrix (reports, n_j) for every attribute.
        split: of the attributes.
        memory: bytes that the distinct reports may take.

    Raises:
        ValueError: there is no report.
    """
    distinct = _distinct(payloads, memory // max(4 * sum(split.shape), SEARCHED))
    if distinct is None:
        return streamed(payloads, likelihoods, split)
    return in_memory(_kept(distinct, likelihoods, split))


def streamed(payloads: PayloadPieces, likelihoods: Likelihoods, split: Split) -> Fold:
    """Return the fold that reads all reports anew at every call, and forms their halves where they are read.

    Memory: for every thread a batch as it is read, 2^11 rows of halves, a few times 2^11 * 4 (a + b) bytes, and a few
    results; independent of the number of reports.

    Args:
        payloads: reads all reports anew at every call.
        likelihoods: of a batch, one matrix (reports, n_j) for every attribute.
        split: of the attributes.
    """

    def fold(kernel: Kernel) -> Array:
        def of_piece(batches: Iterable[Payloads]) -> Array | None:
            blocks = _blocks(batches)
            first = next(blocks, None)
            if first is None:
                return None
            return added(kernel(split.halves(likelihoods(block))) for block in itertools.chain([first], blocks))

        with single_blas_thread():
            return added(part for part in payloads(of_piece) if part is not None)

    return fold


def _blocks(batches: Iterable[Payloads]) -> Iterator[Payloads]:
    """Yield the payloads in blocks of BLOCK, the last one shorter, however they are cut into batches."""
    rest: Payloads | None = None
    for batch in batches:
        rows = batch if rest is None or not len(rest) else np.concatenate([rest, batch])
        whole = len(rows) - len(rows) % BLOCK
        yield from (rows[start : start + BLOCK] for start in range(0, whole, BLOCK))
        rest = rows[whole:]
    if rest is not None and len(rest):
        yield rest


@dataclass(frozen=True, slots=True, kw_only=True)
class _DistinctReports:
    """Distinct reports.

    Args:
        payloads: shape (distinct, width).
        counts: how often every one occurs.
    """

    payloads: Payloads
    counts: npt.NDArray[np.int64]


def _distinct(pieces: PayloadPieces, most: int) -> _DistinctReports | None:
    """Return the distinct reports, None where there are more than `most`: in an order that is theirs alone."""
    distinct = _gathered(most, pieces(functools.partial(_distinct_of_piece, most)))
    if distinct is not None and not len(distinct.counts):
        raise ValueError("there is no report to fit to")
    return distinct


def _distinct_of_piece(most: int, batches: Iterable[Payloads]) -> _DistinctReports | None:
    return _gathered(
        most, (_DistinctReports(payloads=batch, counts=np.ones(len(batch), dtype=np.int64)) for batch in batches)
    )


def _gathered(most: int, parts: Iterable[_DistinctReports | None]) -> _DistinctReports | None:
    """Return the distinct reports of all parts; None as soon as there are more than `most`, or a part has more.

    As many reports are merged at a time as are known already, so that each is sorted a few times only.
    """
    held: list[_DistinctReports] = []
    distinct = waiting = 0
    for part in parts:
        if part is None:
            return None
        held += [part] if len(part.counts) else []
        waiting += len(part.counts)
        if waiting >= max(WAITING, distinct):
            held, waiting = [_merged(held)], 0
            distinct = len(held[0].counts)
            if distinct > most:
                return None
    if not held:
        return _DistinctReports(payloads=np.zeros((0, 0), dtype=np.uint8), counts=np.zeros(0, dtype=np.int64))
    merged = _merged(held)
    return merged if len(merged.counts) <= most else None


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


def _kept(distinct: _DistinctReports, likelihoods: Likelihoods, split: Split) -> Halves:
    """Return the halves of all distinct reports, made block by block, so that there is one copy of them."""
    rows, (left, right) = len(distinct.counts), split.shape
    kept = Halves(
        left=np.empty((rows, left), dtype=np.float32),
        right=np.empty((rows, right), dtype=np.float32),
        counts=distinct.counts.astype(np.float64),
    )

    def fill(start: int) -> None:
        rows_of_block = slice(start, start + BLOCK)
        block = split.halves(likelihoods(distinct.payloads[rows_of_block]))
        kept.left[rows_of_block], kept.right[rows_of_block] = block.left, block.right

    for _ in on_threads(fill, range(0, rows, BLOCK)):
        pass
    return kept
