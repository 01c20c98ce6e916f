"""Bloom filters of strings, in cohorts: candidates -> SHA-256 -> the bits that each sets in every cohort.

Hash number i of a candidate in a cohort sets bit (bytes 0..7, little-endian, modulo m) of
SHA-256("dpress bloom bit" || cohort || i || candidate), cohort and i in 2 bytes each, little-endian, the candidate in
UTF-8.
"""

import functools
import hashlib

import numpy as np
import numpy.typing as npt

from dpress.core.oracle import Payloads

LABEL = b"dpress bloom bit"
Bits = npt.NDArray[np.bool_]  # shape (cohorts, m, candidates)


def positions(candidate: str, cohort: int, *, bits: int, hashes: int) -> list[int]:
    """Return the Bloom bits of a candidate in a cohort, one for every hash; some may coincide.

    >>> positions("dpress", 3, bits=128, hashes=2)
    [62, 101]
    """
    text = candidate.encode()
    digests = (
        hashlib.sha256(LABEL + cohort.to_bytes(2, "little") + number.to_bytes(2, "little") + text).digest()
        for number in range(hashes)
    )
    return [int.from_bytes(digest[:8], "little") % bits for digest in digests]


@functools.lru_cache(maxsize=8)
def blooms_of(candidates: tuple[str, ...], bits: int, hashes: int, cohorts: int) -> Bits:
    """Return every candidate's filter in every cohort, shape (cohorts, bits, candidates)."""
    out = np.zeros((cohorts, bits, len(candidates)), dtype=np.bool_)
    for cohort in range(cohorts):
        for v, candidate in enumerate(candidates):
            out[cohort, positions(candidate, cohort, bits=bits, hashes=hashes), v] = True
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=8)
def filters_of(candidates: tuple[str, ...], bits: int, hashes: int, cohorts: int) -> Payloads:
    """Return the same packed, shape (cohorts, bytes of a filter, candidates)."""
    return np.packbits(blooms_of(candidates, bits, hashes, cohorts), axis=1, bitorder="little")
