"""A joint distribution of many attributes as a mixture of latent classes, fitted to all tables of pairs at once.

Consistent tables -> shares of each attribute, unbiased tables of pairs -> latent classes -> a joint with a hidden axis.
Post-processing. Nearer to the pairs than tables that are cut off at 0: what one says helps the others.
"""

import itertools

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.inference.joint.factors import Factor, Joint
from dpress.inference.joint.pair_tables import Tables
from dpress.inference.joint.shrinkage import one_way
from dpress.inference.records import latent_classes
from dpress.inference.records.latent_classes import MODELS, LatentClasses

_LEAST = 1e-9  # a share, before they add up to 1


def class_model(tables: Tables, *, rng: Generator, most: int = MODELS) -> Joint:
    """Return the mean of latent class models of the one-way tables and of every pair that some table holds.

    What tables of three attributes say of all three together is not used; what they say of pairs is.
    Error: no formula; see `latent_classes.fit`.

    Args:
        tables: noisy ones; they are made consistent.
        rng: of the models' starts; nothing private is drawn.
        most: models, at most.
    """
    axes = range(len(tables.shape))
    shares = [np.maximum(one_way(tables, axis), _LEAST) for axis in axes]
    shares = [marginal / marginal.sum() for marginal in shares]
    pairs = {
        (first, second): (tables.table((first, second)), max(tables.variance((first, second)), 1e-300))
        for first, second in itertools.combinations(axes, 2)
        if tables.holds((first, second))
    }
    evidence = latent_classes.evidence(shares, pairs)
    model = latent_classes.fitted(shares, evidence, rng=rng, most=most)
    gaps = [float(np.abs(model.table(pair) - table).sum() / 2) for pair, (table, _) in pairs.items()]
    return joint_of(model, gap=max(gaps, default=0.0))


def joint_of(model: LatentClasses, *, gap: float = 0.0) -> Joint:
    """Return latent classes as a joint whose hidden axis they are."""
    hidden = len(model.sizes)
    first = Factor(given=(), targets=(hidden,), table=model.weights)
    others = [Factor(given=(hidden,), targets=(axis,), table=model.of(axis)) for axis in range(hidden)]
    return Joint(shape=model.sizes, factors=(first, *others), gap=gap, hidden=(model.weights.size,))
