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
        products: the same for what every two of the sums add up of one user, shape (sums, sums, outputs of a row);
            None where reports do not tell them.
        apart_products: what users of all other groups add to these, shape (sums, sums).
    """

    rows: Array
    apart: Array
    products: Array | None = None
    apart_products: Array | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Unbiased sums over the users of a set of groups who reported.

    Args:
        values: users, sum of levels, sum of squares; shape (sums,).
        covariance: shape (sums, sums).
    """

    values: Array
    covariance: Array


def sums(reports: npt.NDArray[np.int64], scores: Scores, mask: Mask, *, part: float = 1.0) -> Sums:
    """Return the sums over a set of groups.

    Error: S, the sum of the scores' outer products over n reports, is that of n independent users with their noise; P,
        the unbiased estimate of the outer products of what users add without noise, is what S has of the users
        themselves. S - P is the noise; a random part f of everybody who reports adds (1 - f)(P - v v^T / n), v the
        sums: n / (n - 1) (S - f P - (1 - f) v v^T / n). Where reports do not tell P, f = 0: users stand for others,
        which is too much for themselves, by little where epsilon is near 1.

    Args:
        reports: how often each output was reported, shape (groups, outputs of a row).
        scores: of the outputs.
        mask: the groups, shape (groups,).
        part: f, the share of those whom the sums are about that reported; 0 where they stand for very many others.
    """
    users, inside = int(reports.sum()), reports[mask].sum(axis=0).astype(np.float64)
    outside = users - inside.sum()
    away = mask.sum() * scores.apart
    rows = scores.rows - away[:, None]
    values = rows @ inside - outside * away
    second = (rows * inside) @ rows.T + outside * np.outer(away, away)
    if scores.products is None or scores.apart_products is None:
        part = 0.0
    else:
        second = second - part * (scores.products @ inside - users * mask.sum() * scores.apart_products)
    spread = (second - (1 - part) * np.outer(values, values) / max(users, 1)) * (users / max(users - 1, 1))
    return Sums(values=values, covariance=spread)
