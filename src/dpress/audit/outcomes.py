"""Outputs from outside: their scores, or of mechanisms with few outcomes their labels, as of the reports of an oracle.

value -> the code as it runs -> report -> the label of its outcome.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpress.audit.bounds import Floats
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Codes
from dpress.core.reports.oracle import Channel, Oracle, Payloads

Labels = npt.NDArray[np.int64]

MOST_BITS = 16
IMPOSSIBLE = -1e4  # stands for ln 0, so that differences stay numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """A mechanism with few outcomes, from outside.

    Args:
        values: how many inputs there are, any two of them neighbours.
        labels: how many outcomes.
        draw: outcomes of one input.
        stated: the log ratio of every outcome for one input against another, as the mechanism states it.
    """

    values: int
    labels: int
    draw: Callable[[int, int], Labels]
    stated: Callable[[int, int], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Two neighbours whose outputs have a score: the log likelihood ratio of the second to the first.

    Args:
        draw: scores of outputs of neighbour 0 or 1.
    """

    draw: Callable[[int, int], Floats]


def record_labels(records: Codes, sizes: tuple[int, ...]) -> Labels:
    """Return the number of every record among all of these sizes.

    Args:
        records: shape (attributes, records).
        sizes: of the attributes.
    """
    return np.asarray(np.ravel_multi_index(tuple(records), sizes), dtype=np.int64)


def of_oracle(oracle: Oracle, *, rng: Generator) -> Outcomes:
    """Return the reports of an oracle: one by one where they can be listed, else by which values they support.

    Raises:
        NotSupported: the reports are too many, and the oracle cannot say what they support.
    """

    def draw(value: int, size: int) -> Payloads:
        return oracle.perturb(np.full(size, value, dtype=np.int32), rng=rng)

    try:
        channel = oracle.channel()
    except NotSupported:
        return _by_support(oracle, draw)
    return _by_payload(oracle, channel, draw)


def _by_payload(oracle: Oracle, channel: Channel, draw: Callable[[int, int], Payloads]) -> Outcomes:
    """Return the place of every report in the channel; a report that is not there has a label of its own."""
    keys = _keys(channel.payloads)
    order = np.argsort(keys)
    sorted_keys = keys[order]
    logs = np.array([[_log(row[place]) for place in order] + [0.0] for row in channel.probabilities])

    def label(value: int, size: int) -> Labels:
        seen = _keys(draw(value, size))
        places = np.minimum(np.searchsorted(sorted_keys, seen), sorted_keys.size - 1)
        return np.where(sorted_keys[places] == seen, places, sorted_keys.size).astype(np.int64)

    def stated(value: int, other: int) -> Floats:
        return np.asarray(np.round(logs[value] - logs[other], 9))  # outcomes of one exact ratio stay together

    return Outcomes(values=oracle.size, labels=sorted_keys.size + 1, draw=label, stated=stated)


def _log(probability: Fraction) -> float:
    return math.log(probability) if probability > 0 else IMPOSSIBLE


def _keys(payloads: Payloads) -> npt.NDArray[np.void]:
    if payloads.shape[1] > 8:
        raise NotSupported("reports of more than 8 bytes are not listed")
    padded = np.zeros((len(payloads), 8), dtype=np.uint8)
    padded[:, : payloads.shape[1]] = payloads
    return padded.view("<u8").reshape(-1)


def _by_support(oracle: Oracle, draw: Callable[[int, int], Payloads]) -> Outcomes:
    """Return which values a report supports, bit by bit."""
    supporting = getattr(oracle, "supporting", None)
    if supporting is None or oracle.size > MOST_BITS:
        raise NotSupported("this oracle's reports are too many to count")
    labels = np.arange(1 << oracle.size)

    def label(value: int, size: int) -> Labels:
        payloads = draw(value, size)
        parts = (supporting(payloads, other).astype(np.int64) << other for other in range(oracle.size))
        return np.asarray(sum(parts), dtype=np.int64)

    def stated(value: int, other: int) -> Floats:
        return ((labels >> value & 1) - (labels >> other & 1)).astype(np.float64)

    return Outcomes(values=oracle.size, labels=labels.size, draw=label, stated=stated)
