"""Tables over a few attributes each, each from its own users: made to agree where they overlap.

Flow: noisy tables, each from its own users -> weighted least squares -> tables with the same marginals, with variances.
The numbers are shares of all users. The sum of a table is 1 and known, so that noise has no part in it.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpress.core.maps.linear import Array, Marginal
from dpress.inference.consistency import Axes, Table, component_variance, marginal, subsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The variance of an estimated share, as a function of the share itself.

    The oracle's part is affine in the share f, that of sampling users is proportional to f (1 - f).

    Args:
        users: how many answered.
        held: p (1 - p) / (p - q)^2 of the oracle.
        other: q (1 - q) / (p - q)^2 of the oracle.
        sampling: 1 - users / everybody, the factor of the sampling variance; 0 where everybody answered.
    """

    users: int
    held: float
    other: float
    sampling: float

    def variance(self, share: Array, cells: int = 1) -> Array:
        """Return the variance of the sum of so many cells that hold this share together.

        Formula: (f held + (cells - f) other + sampling f (1 - f)) / users; the oracle's noise taken as independent.
        """
        total = share * self.held + (cells - share) * self.other + self.sampling * share * (1 - share)
        return np.asarray(total / self.users)

    def at_equal_shares(self, cells: int) -> float:
        """Return the variance that each of `cells` would have without the known sum, were all shares equal."""
        if cells == 1:
            return 0.0
        return float(self.variance(np.asarray(1 / cells))) * cells / (cells - 1)

    def before_centring(self, shares: Array) -> Array:
        """Return the variance whose part beyond the mean of the table is that of shares with a known sum."""
        return self.variance(shares) * (shares.size / (shares.size - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNoise:
    """Independent noise of one variance in every cell, as a curator adds it.

    Args:
        each: the variance of a cell's share.
    """

    each: float

    def variance(self, share: Array, cells: int = 1) -> Array:
        """Return the variance of the sum of so many cells: cells times that of one."""
        return np.full(np.shape(share), cells * self.each)

    def at_equal_shares(self, cells: int) -> float:
        """Return the variance of a cell; 0 where there is one cell, whose share is known."""
        return self.each if cells > 1 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyTable:
    """The unbiased shares of all combinations of some attributes.

    Args:
        axes: the attributes, rising.
        shares: one axis for every attribute.
        noise: their variance.
    """

    axes: Axes
    shares: Array
    noise: Noise | LevelNoise


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Tables that may overlap, of attributes that each has at least one table.

    Least squares with weights that do not depend on the answers, so that the estimates are linear and unbiased:
    `consistency` with the variance of equal shares in every table. Error: `variance`, exact where shares are equal.

    Args:
        shape: the number of cells of every attribute.
        noisy: the tables; those that nobody answered are left out.
    """

    shape: Axes
    noisy: tuple[NoisyTable, ...]

    def __post_init__(self) -> None:
        for table in self.noisy:
            sizes = tuple(self.shape[axis] for axis in table.axes)
            if table.shares.shape != sizes or list(table.axes) != sorted(table.axes):
                raise ValueError(f"the table of attributes {table.axes} has shape {table.shares.shape}")
        missing = set(range(len(self.shape))) - {axis for table in self.noisy for axis in table.axes}
        if missing:
            raise ValueError(f"no report is about attributes {sorted(missing)}")

    def holds(self, axes: Axes) -> bool:
        """Return whether some table holds these attributes together."""
        return any(set(axes) <= set(table.axes) for table in self.noisy)

    def table(self, axes: Axes) -> Array:
        """Return the consistent estimate of a table that some report type holds; it may have negative cells."""
        kept = [part for part in self._parts if set(part.map.axes) & set(axes)]
        shares = marginal(kept, axes).reshape([self.shape[axis] for axis in axes])
        return np.asarray(shares + (1 - shares.sum()) / shares.size)

    def variance(self, axes: Axes) -> float:
        """Return the variance of a cell of `table(axes)`, were all shares equal.

        Formula: sum over the subsets T of axes but the empty one of sigma_T^2 prod_{i in T} (1 - 1/n_i)
        prod_{i not in T} 1/n_i^2; see `consistency.query_variance`.
        """
        return math.fsum(
            self.component(some)
            * math.prod(1 - 1 / self.shape[axis] if axis in some else self.shape[axis] ** -2 for axis in axes)
            for some in subsets(axes)
            if some and all(self.shape[axis] > 1 for axis in some)
        )

    def component(self, axes: Axes) -> float:
        """Return the variance of a cell of what these attributes have in common beyond smaller sets, uncentred."""
        if axes not in self._components:
            self._components[axes] = component_variance([part for part in self._parts if part.variance], axes)
        return self._components[axes]

    def variances(self, axes: Axes, shares: Array) -> Array:
        """Return the variance of every cell of the component of `axes`, given what the shares may be.

        Formula: 1 / sum of 1 / v over the tables that hold `axes`, v the variance of their sums.
        """
        holding = [table for table in self.noisy if set(axes) <= set(table.axes)]
        each = [table.noise.variance(shares, table.shares.size // shares.size) for table in holding]
        return np.asarray(1 / sum(1 / np.maximum(spread, 1e-300) for spread in each))

    @cached_property
    def _components(self) -> dict[Axes, float]:
        return {}

    @cached_property
    def _parts(self) -> list[Table]:
        return [
            Table(map=Marginal(self.shape, table.axes), answers=table.shares.ravel(), variance=max(spread, 1e-300))
            for table in self.noisy
            for spread in (table.noise.at_equal_shares(table.shares.size),)
        ]
