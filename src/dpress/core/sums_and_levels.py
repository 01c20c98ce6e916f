"""What a mechanism gives that adds noise to sums and chooses levels beside them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.linear import Numbers
from dpress.core.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumsAndLevels:
    """Noisy sums, and levels that were chosen by counts.

    Args:
        sums: the measurement; None where levels are all there is.
        levels: of every attribute that has some, shape (groups, quantiles).
    """

    sums: Measurement | None
    levels: tuple[npt.NDArray[np.int64], ...]

    @property
    def answers(self) -> Numbers:
        """All integers, sums first, then one attribute's levels after the other, group by group."""
        first = [] if self.sums is None else [self.sums.answers]
        return np.concatenate([*first, *(own.ravel() for own in self.levels)])
