"""How far noise alone moves the tables of pairs that `graphical` measures: known before any row is read.

columns, loss, number of records -> groups to be expected -> noise of every table -> mean total variation distance.
"""

import math
import statistics

import numpy as np

from dpress.mechanisms.microdata.graphical import Graphical
from dpress.mechanisms.microdata.grouped_tables import GroupedTable
from dpress.mechanisms.microdata.one_way_tables import MOST_GROUPS, groups_of_numbers


def pair_noise(method: Graphical, users: int) -> float:
    """Return the mean total variation distance of the tables of all pairs, as measured, from the exact ones.

    Formula: the mean over pairs of cells E|z| / (2 users), z the noise of a cell: E|z| is sqrt(2 variance / pi) for
    Gaussian noise, sqrt(variance / 2) for Laplace noise. Numbers are in the groups that so many records allow, and no
    categories are put together. Error: exact for these groups, but for noise that is not continuous; rare categories
    that are put together make it less. What the records have is less again, by as much as the models explain: no
    formula says how much.

    Args:
        method: what measures all pairs.
        users: the number of records, public.

    Raises:
        ValueError: only some pairs are measured, or there are no records.
    """
    if method.choices or users < 1:
        raise ValueError(f"all pairs, and one record or more, are needed, got {method.choices=}, {users=}")
    most = groups_of_numbers(users, method.deviation)
    kept = [min(column.size, most if column.numeric else MOST_GROUPS) for column in method.columns]
    sizes = zip(method.shape, kept, strict=True)
    groups = [np.arange(size, dtype=np.int64) * number // size for size, number in sizes]
    parts = [GroupedTable(shape=method.shape, axes=(a, b), groups=(groups[a], groups[b])) for a, b in method.pairs]
    of_normal = 1 / 2 if method.loss.tail == "laplace" else 2 / math.pi
    noises = method.measuring(parts, method.tables).noises
    each = [part.rows * math.sqrt(of_normal * noise.variance) for part, noise in zip(parts, noises, strict=True)]
    return statistics.fmean(each) / (2 * users)
