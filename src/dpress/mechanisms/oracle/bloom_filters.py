"""The Bloom filters of `rappor`: which bits a string sets in a cohort.

Hash number i of a candidate in a cohort sets bit (bytes 0..7, little-endian, modulo m) of
SHA-256("dpress bloom bit" || cohort || i || candidate), cohort and i in 2 bytes each, little-endian, the candidate in
UTF-8.
"""

import functools
import hashlib

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array
from dpress.core.reports.oracle import Payloads

LABEL = b"dpress bloom bit"
CONDITION = 1e-9
MOST_HASHES = 1 << 10
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
def blooms(candidates: tuple[str, ...], bits: int, hashes: int, cohorts: int) -> Bits:
    """Return every candidate's filter in every cohort, shape (cohorts, m, candidates)."""
    out = np.zeros((cohorts, bits, len(candidates)), dtype=np.bool_)
    for cohort in range(cohorts):
        for v, candidate in enumerate(candidates):
            out[cohort, positions(candidate, cohort, bits=bits, hashes=hashes), v] = True
    out.flags.writeable = False
    return out


@functools.lru_cache(maxsize=8)
def filters(candidates: tuple[str, ...], bits: int, hashes: int, cohorts: int) -> Payloads:
    """Return the same packed, shape (cohorts, bytes of a filter, candidates)."""
    return np.packbits(blooms(candidates, bits, hashes, cohorts), axis=1, bitorder="little")


@functools.lru_cache(maxsize=8)
def gram(candidates: tuple[str, ...], bits: int, hashes: int, cohorts: int) -> Array | None:
    """Return the Gram matrix of the design if it has full rank."""
    if len(candidates) > bits * cohorts:
        return None
    design = blooms(candidates, bits, hashes, cohorts).reshape(-1, len(candidates)).astype(np.float64)
    product = design.T @ design
    values = np.linalg.eigvalsh(product)
    return product if values[0] > CONDITION * values[-1] else None
