"""The measurement, central or local: noisy answers, the linear map they answer, and their variance; levels beside."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import LinearMap, Numbers, Variance

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Unbiased noisy answers y = A x + noise with independent, zero-mean noise.

    A curator gets it by adding noise to counts, a collector by tallying perturbed reports. The variance may be one
    number (the same noise everywhere), or an array (one number a row: levels sampled with different shares, or a
    tally whose variance depends on the tally itself).

    Args:
        map: the linear map A of shape (rows, cells).
        answers: y, shape (rows,), integers or floats, in counts.
        variance: in counts squared, a number or shape (rows,); infinite where a row was not measured.
    """

    map: LinearMap
    answers: Numbers
    variance: Variance

    def __post_init__(self) -> None:
        if self.answers.shape != (self.map.rows,):
            raise ValueError(f"answers must have shape ({self.map.rows},), got {self.answers.shape}")
        if np.shape(self.variance) not in {(), (self.map.rows,)}:
            raise ValueError(f"variance must be a number or have shape ({self.map.rows},)")

    @property
    def parts(self) -> "tuple[Measurement, ...]":
        """The measurements of a stacked map's parts; a single measurement is its own only part."""
        if (stacked := self.map.stacked)[0] is self.map:
            return (self,)
        ends = np.cumsum([part.rows for part in stacked])[:-1]
        variances = np.split(np.broadcast_to(self.variance, (self.map.rows,)), ends)
        rows = zip(stacked, np.split(self.answers, ends), variances, strict=True)
        return tuple(Measurement(map=part, answers=answers, variance=spread) for part, answers, spread in rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumsAndLevels:
    """Noisy sums, and levels that were chosen by counts.

    Args:
        sums: the measurement; None where levels are all there is.
        levels: of every attribute that has some, shape (groups, quantiles).
    """

    sums: Measurement | None
    levels: tuple[Integers, ...]

    @property
    def answers(self) -> Numbers:
        """All integers, sums first, then one attribute's levels after the other, group by group."""
        first = [] if self.sums is None else [self.sums.answers]
        return np.concatenate([*first, *(level.ravel() for level in self.levels)])
