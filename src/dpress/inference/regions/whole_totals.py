"""Whole totals >= 0 of all regions, which add up: public ones as they are, the others near their estimates."""

from collections.abc import Mapping

import numpy as np

from dpress.core.maps.linear import Array, Numbers
from dpress.core.maps.spine import Spine

SAME = 1e-9


def public_totals(spine: Spine, totals: Mapping[int, Numbers]) -> dict[int, Numbers]:
    """Return the totals of all levels that public ones say: theirs and those of the levels above.

    Args:
        spine: the regions.
        totals: by level, whole numbers >= 0 of all its nodes.

    Raises:
        ValueError: totals that are no counts of the level's nodes, or two levels that do not add up.
    """
    out: dict[int, Numbers] = {}
    for level in sorted(totals, reverse=True):
        given = np.asarray(totals[level])
        if given.shape != (spine.sizes[level],) or (given < 0).any() or (given != np.rint(given)).any():
            raise ValueError(f"public totals of level {level}: expected {spine.sizes[level]} whole numbers >= 0")
        if level in out and (out[level] != given).any():
            raise ValueError(f"public totals of level {level} must be the sums of the public totals below it")
        out[level] = given.astype(np.int64)
        for above in reversed(range(level)):
            out[above] = spine.sums(out[above + 1], above)
    return out


def whole_totals(estimates: Array, above: Numbers, starts: Numbers) -> Numbers:
    """Return the children's totals: the nearest >= 0 that add up to the parents', by the largest remainders.

    Args:
        estimates: of the children's totals, shape (children,).
        above: the parents' totals, shape (parents,).
        starts: the children of every parent, as in `Spine`.
    """
    out = np.zeros(len(estimates), dtype=np.int64)
    for parent, total in enumerate(above):
        children = slice(starts[parent], starts[parent + 1])
        near = _nearest(estimates[children], float(total))
        whole = np.floor(near + SAME).astype(np.int64)
        whole[np.argsort(whole - near, kind="stable")[: int(total) - int(whole.sum())]] += 1
        out[children] = whole
    return out


def _nearest(values: Array, total: float) -> Array:
    """Return the nearest numbers >= 0 of a total: each less the same, and none below 0."""
    falling = np.sort(values)[::-1]
    less = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    near = np.maximum(values - less[np.flatnonzero(falling >= less)[-1]], 0.0)
    return np.asarray(near * (total / max(near.sum(), SAME)))
