"""Made-up records with few outcomes, from outside: one perturbed record, or the groups of a tiny table.

record or table -> the code as it runs -> records -> the label of what came out
"""

import numpy as np

from dpress.audit.bounds import Floats
from dpress.audit.exact_groups import codes, worst_pair
from dpress.audit.exact_records import probabilities
from dpress.audit.outcomes import Labels, Outcomes
from dpress.core.basics.rng import Generator
from dpress.core.methods.people import Codes
from dpress.mechanisms.microdata.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.per_record import PerRecord


def of_record(made: PerRecord, *, rng: Generator) -> Outcomes:
    """Return the outcomes of one record: all its values, each of which is an input, too."""
    sizes = tuple(column.size for column in made.columns)
    values = int(np.prod(sizes))
    logs = np.zeros((1, 1))
    for column in made.columns:
        own = np.log(probabilities(made, column))
        logs = (logs[:, None, :, None] + own[None, :, None, :]).reshape(len(logs) * column.size, -1)

    def draw(value: int, size: int) -> Labels:
        record = np.array(np.unravel_index(np.full(size, value), sizes), dtype=np.int32)
        return _label(made.perturbed(record, rng=rng), sizes)

    def stated(one: int, other: int) -> Floats:
        return np.asarray(np.round(logs[one] - logs[other], 9))

    return Outcomes(values=values, labels=values, draw=draw, stated=stated)


def of_groups(made: InsensitiveMicroaggregation, *, rng: Generator) -> Outcomes:
    """Return the outcomes of the two neighbouring tables that the noise hides worst: the centres of all groups."""
    tables = [codes(made, table) for table in worst_pair(made).tables]
    sizes = tuple(column.size for column in made.columns) * made.groups
    firsts = np.cumsum(made.sizes) - made.sizes

    def draw(value: int, size: int) -> Labels:
        own = tables[value]
        places = made.places(own)[firsts]
        drawn = [made.aggregated(own, rng=rng)[:, places].T.ravel() for _ in range(size)]
        return _label(np.array(drawn, dtype=np.int32).T, sizes)

    def stated(one: int, other: int) -> Floats:
        return np.zeros(int(np.prod(sizes))) if one == other else np.full(int(np.prod(sizes)), -1e-9)

    return Outcomes(values=2, labels=int(np.prod(sizes)), draw=draw, stated=stated)


def _label(records: Codes, sizes: tuple[int, ...]) -> Labels:
    return np.asarray(np.ravel_multi_index(tuple(records), sizes), dtype=np.int64)
