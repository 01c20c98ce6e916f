"""The model of all pairs' tables: as near as the noise allows, the product of margins where it hides all else.

noisy tables -> what is beyond noise -> factors -> classes fitted to tables between both -> the mean of both.
Post-processing: it sees no record.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpress.core.basics.rng import Generator
from dpress.core.maps.linear import Array
from dpress.core.methods.possible import EVERYTHING, Possible, with_margins
from dpress.inference.records import latent_classes
from dpress.inference.records.blocks import Blocks
from dpress.inference.records.factor_count import significant
from dpress.inference.records.latent_classes import Evidence, LatentClasses, Pair
from dpress.inference.records.low_rank import LowRank, low_rank

MODELS = 8
"""Of latent classes, at most, whose mean is taken: with that of factors, more are hardly nearer."""
LEAST_KEPT = 0.01
"""Of what tables hold beyond the factors, the part that classes are fitted to at least."""
PASSES = 50
"""In which a table with impossible cells is scaled to its margins."""
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairModel:
    """What records are made of.

    Args:
        classes: to draw records from.
        tables: shares of all pairs of cells, >= 0, shape (cells, cells): nearer than the classes'.
    """

    classes: LatentClasses
    tables: Array

    def farthest(self, most: int) -> list[Pair]:
        """Return the pairs in whose tables the classes are farthest off, in order; all where they are no more.

        Args:
            most: pairs, at most.
        """
        blocks = Blocks(sizes=self.classes.sizes)
        off = blocks.sums(np.abs(self.classes.tables - self.tables))
        first, second = np.triu_indices(len(blocks.sizes), 1)
        kept = np.sort(np.argsort(-off[first, second], kind="stable")[:most])
        return list(zip(first[kept].tolist(), second[kept].tolist(), strict=True))


def pair_model(
    one_way: Sequence[Array], evidence: Evidence, *, rng: Generator, possible: Possible = EVERYTHING
) -> PairModel:
    """Return classes and tables of all pairs.

    Factors shrink with the noise to nothing, the product of margins. Classes would follow noise where it is large; they
    are fitted to the factors' tables and a part of what noisy tables hold beyond them: as much as factors follow the
    tables. Classes hold impossible combinations, factors what many tables say together; they err in
    different ways, so that the mean of both tables is nearer than either. It is cut off at 0, and every table is
    scaled to 1. A pair that was not measured has the classes' table.

    Args:
        one_way: shares of every attribute's cells, > 0.
        evidence: the noisy tables, and better shares of every attribute.
        rng: of starts and draws; nothing private is drawn.
        possible: which records may occur: a pair with impossible cells has a table of the same margins without them.
    """
    model = _fitted(one_way, evidence, rng)
    return replace(model, tables=_possible_tables(model, evidence, possible)) if possible.parts else model


def _fitted(one_way: Sequence[Array], evidence: Evidence, rng: Generator) -> PairModel:
    """Return the model, whatever is possible."""
    blocks, seen = Blocks(sizes=tuple(shares.size for shares in one_way)), np.isfinite(evidence.variances)
    first = significant(evidence, blocks)
    if not first.factors:
        return _independent(blocks, evidence)
    factors = low_rank(evidence, blocks, first, rng=rng)
    classes = latent_classes.fitted(one_way, _leaning(evidence, factors), rng=rng, most=MODELS)
    mean = np.where(seen, (classes.tables + factors.tables) / 2, classes.tables)
    cut = np.maximum(mean, 0.0)
    return PairModel(classes=classes, tables=cut / np.maximum(blocks.spread(blocks.sums(cut)), _TINY))


def _independent(blocks: Blocks, evidence: Evidence) -> PairModel:
    """Return the product of the shares of all attributes."""
    classes = LatentClasses(sizes=blocks.sizes, weights=np.ones(1), cells=evidence.one_way[None])
    return PairModel(classes=classes, tables=classes.tables)


def _possible_tables(model: PairModel, evidence: Evidence, possible: Possible) -> Array:
    """Return the tables of pairs, impossible cells 0, with the margins of the evidence as far as these can be had."""
    blocks, tables = Blocks(sizes=model.classes.sizes), model.tables.copy()
    slices = blocks.slices
    for first, second in itertools.combinations(range(len(slices)), 2):
        block = (slices[first], slices[second])
        shape = (blocks.sizes[first], blocks.sizes[second])
        if (allowed := possible.pair((first, second), shape)) is not None:
            margins = evidence.one_way[block[0]], evidence.one_way[block[1]]
            tables[block] = with_margins(
                np.where(allowed, np.maximum(tables[block], _TINY), 0.0), margins, passes=PASSES
            )
            tables[block[::-1]] = tables[block].T
    return tables


def _leaning(evidence: Evidence, factors: LowRank) -> Evidence:
    """Return tables between the factors' and the noisy ones, with what is left of the noise's variance."""
    kept = max(factors.degrees, LEAST_KEPT)
    seen = np.isfinite(evidence.variances)
    pairs = np.where(seen, factors.tables + kept * (evidence.pairs - factors.tables), 0.0)
    return replace(evidence, pairs=pairs, variances=evidence.variances * kept**2)
