"""Sums over the users of some groups from reports of numbers: how many, their levels, the squares; with covariances.

how often every output was reported -> each output's score, added up -> unbiased sums and their covariance.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpress.core.maps.linear import Array

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scores:
    """What a report adds to the sums over a set of k groups: `rows` of its output if that is of the set, less k apart.

    Args:
        rows: by sum and output of a group's row: users, sum of levels and, where it has it, sum of their squares, the
            levels counted from the middle one; shape (sums, outputs of a row).
        apart: what users of all other groups add on average to one group's outputs, shape (sums,).
    """

    rows: Array
    apart: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Unbiased sums over the users of a set of groups who reported.

    Args:
        values: users, sum of levels, sum of squares; shape (sums,).
        covariance: shape (sums, sums).
    """

    values: Array
    covariance: Array


def sums(reports: npt.NDArray[np.int64], scores: Scores, mask: Mask) -> Sums:
    """Return the sums over a set of groups.

    Error: the covariance is that of n independent draws of a score, estimated from the reports: unbiased where the
    users are drawn at random; for fixed users it counts the spread of their numbers beside the noise, and is too large
    by it, which is little where epsilon is near 1.

    Args:
        reports: how often each output was reported, shape (groups, outputs of a row).
        scores: of the outputs.
        mask: the groups, shape (groups,).
    """
    users, inside = int(reports.sum()), reports[mask].sum(axis=0).astype(np.float64)
    away = mask.sum() * scores.apart
    rows = scores.rows - away[:, None]
    values = rows @ inside - (users - inside.sum()) * away
    second = (rows * inside) @ rows.T + (users - inside.sum()) * np.outer(away, away)
    spread = (second - np.outer(values, values) / max(users, 1)) * (users / max(users - 1, 1))
    return Sums(values=values, covariance=spread)
