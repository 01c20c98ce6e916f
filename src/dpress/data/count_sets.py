"""How many people hold each value of a list, and how many values each: exact, and so private.

rows -> words of their sets -> counts of values, of what a cap leaves of them, of sizes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpress.attributes.domain import Schema
from dpress.attributes.sets.attribute import SetMembers, members
from dpress.core.basics.claim import ROW
from dpress.core.maps.linear import Array, Numbers
from dpress.core.methods.people import Codes
from dpress.data.add_up import Progress
from dpress.data.fold import fold
from dpress.data.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCounts:
    """What people hold.

    Args:
        sizes: how many people hold 0, 1, ..., k values, shape (k + 1,).
        held: how many hold each value, by the size of their set, shape (k + 1, k).
    """

    sizes: Numbers
    held: Numbers

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.sizes.sum())

    @property
    def counts(self) -> Array:
        """How many people hold each value, shape (k,)."""
        return np.asarray(self.held.sum(axis=0), dtype=np.float64)

    def kept(self, cap: int) -> Array:
        """Return how many hold each value, where of a larger set `cap` values stay at random; mean, shape (k,)."""
        share = np.minimum(1.0, cap / np.maximum(1, np.arange(self.sizes.size)))
        return np.asarray(share @ self.held)


def set_counts(attribute: SetMembers, source: Any, *, progress: Progress | None = None) -> SetCounts:
    """Return what the people of some rows hold.

    Args:
        attribute: of their sets.
        source: the rows, as `open_source` takes or returns them.
        progress: called with the number of rows done so far.

    Raises:
        OSError, SchemaMismatch: see `fold`.
    """
    size = attribute.size

    def kernel(codes: Codes) -> Numbers:
        sets = members(codes, size)
        many = np.count_nonzero(sets, axis=1)
        held = np.zeros((size + 1, size), dtype=np.int64)
        user, value = np.nonzero(sets)
        np.add.at(held, (many[user], value), 1)
        return np.concatenate([np.bincount(many, minlength=size + 1)[:, None], held], axis=1).ravel()

    table = Table(source, (attribute.name,), ROW)
    counts = fold(table, Schema((attribute,)), kernel, progress=progress).reshape(size + 1, size + 1)
    return SetCounts(sizes=counts[:, 0], held=counts[:, 1:])
