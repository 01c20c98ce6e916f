"""The estimators' loops as the document writes them, timed on few reports and scaled to all reports and all steps.

A step of EM goes through the reports; for each it makes the likelihood of every candidate from the attributes' parts,
weighs it by the last table, scales it to add up to 1 and adds it to the next table. Two ways to write the inner loop:
candidate by candidate, as the pseudo-code reads, or the candidates of a report as one array.
"""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from joint_methods import Bits, Candidates

Parts = list[npt.NDArray[np.float32]]
Places = list[npt.NDArray[np.int64]]  # the value of every attribute in every candidate
FEW = 100  # reports that are timed, the most
MOST = {"candidate by candidate": 50_000, "candidates as an array": 2_000_000}  # candidates in all of them


def one_by_one(parts: Parts, codes: Places, reports: int) -> Sequence[float]:
    """Return the sum of some reports' posteriors after a uniform table, candidate by candidate."""
    values, cells = [part.tolist() for part in parts], list(zip(*(own.tolist() for own in codes), strict=True))
    table, total = [1 / len(cells)] * len(cells), [0.0] * len(cells)
    for number in range(reports):
        each, joint = [own[number] for own in values], []
        for cell, share in zip(cells, table, strict=True):
            likelihood = share
            for own, code in zip(each, cell, strict=True):
                likelihood *= own[code]
            joint.append(likelihood)
        whole = sum(joint)
        for place, likelihood in enumerate(joint):
            total[place] += likelihood / whole
    return total


def as_array(parts: Parts, codes: Places, reports: int) -> Sequence[float]:
    """Return the sum of some reports' posteriors after a uniform table, all candidates of a report at once."""
    table, total = np.full(len(codes[0]), 1 / len(codes[0])), np.zeros(len(codes[0]))
    for number in range(reports):
        joint = table
        for part, code in zip(parts, codes, strict=True):
            joint = joint * part[number, code]
        total += joint / joint.sum()
    return list(total)


LOOPS: Mapping[str, Callable[[Parts, Places, int], Sequence[float]]] = {
    "candidate by candidate": one_by_one,
    "candidates as an array": as_array,
}


def seconds_a_report(bits: Bits, kept: Candidates) -> dict[str, float]:
    """Return the seconds of the processor that a step takes a report, by the way in which the loop is written."""
    cells = np.flatnonzero(kept)
    codes, found = list(np.unravel_index(cells, bits.split.sizes)), {}
    for name, loop in LOOPS.items():
        reports = max(min(FEW, MOST[name] // cells.size), 2)
        parts = bits.likelihoods(slice(0, reports))
        start = time.process_time()
        loop(parts, codes, reports)
        found[name] = (time.process_time() - start) / reports
    return found
