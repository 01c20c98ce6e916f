"""How many there are of every name in a column whose names nobody may list: before and after the noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
LONGEST_NAME = 256  # bytes in UTF-8


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """Exact counts of names: private, never written anywhere.

    Args:
        names: all different, in the order of their bytes.
        counts: of each, at least 1, shape (names,); where a mechanism takes weights, the sum of these.
        unnamed: how many count without a name; 0 where weights are added up.
    """

    names: tuple[str, ...]
    counts: Integers
    unnamed: int

    @property
    def total(self) -> int:
        """All of them, with and without a name."""
        return int(self.counts.sum()) + self.unnamed


CountNames = Callable[[Sequence[int] | None, Sequence[str] | None], NameCounts]
"""From the weights of units with 1, 2, ... names (None for 1 each) and the names that count at all (None for all) to
exact counts. Of a person the same rows count every time: what a first count left out stays left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyNames:
    """What a mechanism releases of names.

    Args:
        names: those that were released, in the order of their bytes.
        answers: the noisy total, where it was asked for, and the noisy count of every name, shape (names [+ 1],).
    """

    names: tuple[str, ...]
    answers: Integers
