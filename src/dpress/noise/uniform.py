"""Exact uniform integers, by rejection.

Flow: 64-bit words -> reject the incomplete last run of n -> remainder modulo n.
"""

import numpy as np
import numpy.typing as npt

from dpress.core.rng import Generator
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

    >>> from dpress.core import rng
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
