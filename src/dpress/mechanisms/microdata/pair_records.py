"""Records of a model of noisy one-way tables and tables of pairs: what follows the noise of `graphical`.

noisy tables -> shares over groups -> the model -> records over groups -> over cells, shuffled. It sees no record.
"""

from collections.abc import Mapping

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.maps.measurement import Measurement
from dpress.core.methods.people import Codes
from dpress.core.methods.possible import EVERYTHING, Possible
from dpress.inference.records import latent_classes
from dpress.inference.records.latent_classes import Evidence, Pair
from dpress.inference.records.margins import pooled
from dpress.inference.records.pair_model import PairModel, pair_model
from dpress.inference.records.raking import raked, redrawn
from dpress.mechanisms.microdata.one_way_tables import OneWayTables
from dpress.mechanisms.microdata.record_sampling import drawn, mixture, shuffled

Measured = Mapping[Pair, Measurement]
RAKED = 2000
"""Tables of pairs that records are weighted to, at most: each is a pass over the records."""


def evidence(one_way: OneWayTables, measured: Measured, possible: Possible = EVERYTHING) -> Evidence:
    """Return what noisy tables say of the groups' shares; those of one attribute, from all tables, count as exact.

    Impossible pairs of groups have a share of 0, whatever was measured.

    Args:
        one_way: the one-way tables, with groups.
        measured: the tables of pairs over these groups, in counts.
        possible: which records over the groups may occur.
    """
    scale, shares = max(one_way.size, 1), dict[Pair, tuple[Array, float]]()
    kept = {pair: one_way.table(pair).kept for pair in measured}
    allowed = {
        pair: cells for pair, shape in kept.items() if (cells := possible.pair(pair, (shape[0], shape[1]))) is not None
    }
    for pair, noisy in measured.items():
        table = noisy.answers.reshape(kept[pair]) / scale
        table = np.where(allowed[pair], table, 0.0) if pair in allowed else table
        shares[pair] = table, float(np.mean(noisy.variance)) / scale**2
    return latent_classes.evidence(pooled(one_way.shares, one_way.spreads, shares, allowed), shares)


def records(one_way: OneWayTables, measured: Measured, *, rng: Generator, possible: Possible = EVERYTHING) -> Codes:
    """Return as many records as the one-way tables say, in random order, shape (attributes, records).

    Args:
        one_way: the one-way tables, with groups.
        measured: the tables of pairs over these groups, in counts; those that are left out are the model's.
        rng: a secure generator.
        possible: which records may be made.
    """
    of_groups = possible.grouped(one_way.groups)
    model = pair_model(one_way.shares, evidence(one_way, measured, of_groups), rng=rng, possible=of_groups)
    codes = one_way.spread(_over_groups(model, one_way.size, of_groups, rng), rng=rng, possible=possible)
    return codes[:, shuffled(one_way.size, rng=rng)]


def _over_groups(model: PairModel, size: int, possible: Possible, rng: Generator) -> Codes:
    """Return sorted records over groups: of a model's classes, and drawn anew to have its tables of pairs."""
    classes = model.classes
    of_class = np.bincount(drawn(classes.weights, size, rng=rng), minlength=classes.weights.size)
    codes = mixture([classes.of(axis) for axis in range(len(classes.sizes))], of_class, rng=rng, possible=possible)
    return redrawn(codes, raked(codes, classes.sizes, model.tables, model.farthest(RAKED)), rng=rng)
