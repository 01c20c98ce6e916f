"""How much every category of mixed records decides on the clusters: weights by influence.

The document weights each categorical attribute by its influence on the clustering and does not say how that is
measured. The rule here: the share of the between-cluster distance that the attribute explains in a first run.
counts of every cluster's cells -> distances within one cluster for all, and within the clusters -> weights
"""

from dataclasses import replace
from typing import Literal

import numpy as np

from dpress.attributes.mixed import Column
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Counts
from dpress.mechanisms.microdata.prototypes import offsets, prototypes

Weights = Literal["given", "influence"]


def explained(columns: tuple[Column, ...], counts: Counts) -> Array:
    """Return how much of every attribute's distance lies between the clusters, shape (attributes,).

    T_a - W_a: the distances of all records from the best prototype for all, less those from their own clusters'; each
    attribute with weight 1.

    Args:
        columns: of the records.
        counts: of every cluster's cells, shape (clusters, cells); what they were counted on is what the result tells.
    """
    alike = tuple(replace(column, weight=1.0) for column in columns)
    together = counts.sum(axis=0, keepdims=True)
    costs = [clusters * prototypes(alike, clusters).costs.T for clusters in (together, counts)]
    total, within = (np.add.reduceat(cost.sum(axis=0), offsets(columns)[:-1]) for cost in costs)
    return np.asarray(np.maximum(total - within, 0))


def weighted(columns: tuple[Column, ...], counts: Counts) -> tuple[Column, ...]:
    """Return the columns with weights by influence: p B_j / (B_1 + ... + B_p) for the p categories, B from `explained`.

    They are 1 on average; numbers keep their weight, as the document weights categories only. Where the clusters tell
    no categories apart, all keep theirs.
    """
    listed = np.array([not column.numeric for column in columns])
    between = np.where(listed, explained(columns, counts), 0)
    if not between.sum() > 0:
        return columns
    shares = listed.sum() * between / between.sum()
    pairs = zip(columns, shares, strict=True)
    return tuple(column if column.numeric else replace(column, weight=float(share)) for column, share in pairs)
