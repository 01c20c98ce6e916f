"""Exact uniform integers, by rejection.

Flow: 64-bit words -> reject the incomplete last run of n -> remainder modulo n; or, for small n and many lanes,
32-bit words -> product with n -> reject a low half below 2^32 mod n -> high half.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.basics.rng import Generator
from dpress.noise.expansion import WORD


def below(n: int, size: int, *, rng: Generator) -> npt.NDArray[np.int64]:
    """Return `size` independent uniform integers in [0, n).

    Promise: exact; words from the largest multiple of n below 2^64 upwards are drawn again.
    Error: variance (n^2 - 1) / 12.

    Args:
        n: from 1 to 2^63.
        size: number of integers.
        rng: the generator.

    Raises:
        ValueError: `n` is out of range.

    >>> from dpress.core.basics import rng
    >>> below(6, 10, rng=rng.seeded(1)).tolist()
    [1, 0, 2, 1, 4, 0, 0, 1, 5, 0]
    """
    if not 1 <= n <= 2**63:
        raise ValueError(f"n must lie between 1 and 2^63, got n={n}")
    largest = np.uint64(2**WORD - 2**WORD % n - 1)
    words = rng.words(size)
    while (rejected := np.flatnonzero(words > largest)).size:
        words[rejected] = rng.words(rejected.size)
    return (words % np.uint64(n)).astype(np.int64)


def small(n: int, size: int, *, rng: Generator) -> npt.NDArray[np.uint32]:
    """Return `size` independent uniform integers in [0, n), several times faster than `below`.

    Promise: exact. For a word w in [0, 2^32) write w n = r 2^32 + l with 0 <= l < 2^32; words with l < t = 2^32 mod n
        are drawn again. A result r then belongs to the multiples of n in [r 2^32 + t, (r + 1) 2^32), an interval
        whose length 2^32 - t is a multiple of n: it holds exactly (2^32 - t) / n of them, the same for every r.
    Error: variance (n^2 - 1) / 12.
    Paper: Lemire 2019, Algorithm 4.

    Args:
        n: from 1 to 2^32.
        size: number of integers; call it for blocks of some ten thousand.
        rng: the generator; half a word each, and as much again with chance below n / 2^32.

    Raises:
        ValueError: `n` is out of range.

    >>> from dpress.core.basics import rng
    >>> small(6, 10, rng=rng.seeded(1)).tolist()
    [2, 0, 0, 5, 2, 0, 2, 2, 3, 1]
    """
    if not 1 <= n <= 2**32:
        raise ValueError(f"n must lie between 1 and 2^32, got n={n}")
    products = np.multiply(_halves(size, rng), n, dtype=np.uint64)
    threshold = 2**32 % n
    while threshold and (rejected := (products.astype(np.uint32) < threshold).nonzero()[0]).size:
        products[rejected] = np.multiply(_halves(rejected.size, rng), n, dtype=np.uint64)
    return (products >> np.uint64(32)).astype(np.uint32)


def _halves(size: int, rng: Generator) -> npt.NDArray[np.uint32]:
    return rng.words((size + 1) // 2).view(np.uint32)[:size]
