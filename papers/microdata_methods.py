"""Adult as the document on microdata takes it, every release of it, and the document's two measures of a release."""

import functools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpress.core import rng
from dpress.core.attribute import Categorical, Integer
from dpress.core.claim import ROW, PureDP
from dpress.core.linear import Array
from dpress.core.mixed import Column, columns
from dpress.core.people import Codes, Counts, in_memory
from dpress.data import hierarchy_file
from dpress.kinds.microdata.linkage import SAME, linked, nearest
from dpress.mechanisms.microdata import group_records as grouped_noise
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.dp_k_prototypes import DpKPrototypes
from dpress.mechanisms.microdata.dp_prototypes import Rows, dp_prototypes
from dpress.mechanisms.microdata.insensitive_microaggregation import InsensitiveMicroaggregation
from dpress.mechanisms.microdata.mdav import grouped
from dpress.mechanisms.microdata.per_record import PerRecord
from dpress.mechanisms.microdata.prototypes import Labels

DATA = Path(os.environ.get("DPRESS_DATA", Path(__file__).parents[2] / "shared" / "data"))
ADULT = DATA / "adult" / "adult.parquet"
BOUNDS = {"age": (17, 90), "hours_per_week": (1, 99)}
LISTED = ("workclass", "education", "marital_status", "occupation", "race", "native_country")
RESTARTS = 4
MATCHED = 500  # rows, and records, that are matched by assignment where a release is in no order
LINKED = 3_000  # records that are linked where most differ
Columns = tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """A release.

    Args:
        codes: of its records, shape (attributes, records).
        aligned: whether record i stands for row i.
        clusters: how many, or the size of a group; 0 where there are none.
        seconds: that it took, without what several releases share.
    """

    codes: Codes
    aligned: bool
    clusters: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a release loses and gives away.

    Args:
        sse: squared distances of all records and attributes; of a sample, times the rows for each of its rows.
        linkage: RL in per cent.
        rows: that were compared: all, or those of a sample.
    """

    sse: float
    linkage: float
    rows: int


@functools.cache
def adult(d: int) -> tuple[Codes, Columns]:
    """Return the 30,162 complete records of the train part and their first d columns.

    Categories are those of the hierarchy files, bounds are fixed: none is read off the records.
    """
    table = pq.read_table(ADULT)
    table = table.filter(pc.equal(table["split"], "train")).drop_null()
    attributes: list[Integer | Categorical] = [Integer(name=name, bounds=bounds) for name, bounds in BOUNDS.items()]
    codes = [table[name].to_numpy() - low for name, (low, _) in BOUNDS.items()]
    for name in LISTED[: d - len(BOUNDS)]:
        tree = hierarchy_file.read(ADULT.parent / "hierarchies" / f"{name}.csv", name, name, ())
        values = tuple(sorted(row[0] for row in tree))
        attributes.append(Categorical(name=name, values=values, hierarchy=tree))
        codes.append(np.searchsorted(np.array(values), table[name].to_numpy().astype(str)))
    return np.stack(codes).astype(np.int32), columns(attributes)


def release(method: str, d: int, k: int, epsilon: str, source: rng.Generator) -> Made:
    """Return the records that a method makes.

    Args:
        method: one of METHODS.
        d: the number of attributes.
        k: clusters, or the size of a group; 0 for what the plan chooses.
        epsilon: of the release; `per_value` takes it for every value, as the document does.
        source: random words.

    Raises:
        NotSupported: dpress refuses.
    """
    start = time.perf_counter()
    codes, clusters = METHODS[method](d, k, epsilon, source)
    return Made(codes=codes, aligned=method in ALIGNED, clusters=clusters, seconds=time.perf_counter() - start)


def compared(d: int, method: str, made: Made, source: rng.Generator) -> Found:
    """Return both measures.

    In the order of the rows SSE is over all of them, and RL, too, but for a sample of records with noise of their own.
    A release without an order is matched in samples by assignment, which takes the nearest rows it can: SSE and RL are
    then a lower and an upper bound.
    """
    rows, kinds = adult(d)
    size = rows.shape[1]
    if made.aligned:
        part = order(size, source)[: LINKED if method in EACH else size]
        own, records = rows[:, part], made.codes[:, part]
        least, ties, _ = nearest(kinds, rows, records)
        link = np.where(apart(kinds, own, records) <= least + SAME, 1 / ties, 0).mean()
        return Found(sse=float(apart(kinds, rows, made.codes).sum()), linkage=100 * float(link), rows=part.size)
    rows, records = (own[:, order(own.shape[1], source)[:MATCHED]] for own in (rows, made.codes))
    found = linked(kinds, rows, records, aligned=False)
    squares = float(apart(kinds, rows[:, found.original], records).sum()) * size / records.shape[1]
    return Found(sse=squares, linkage=100 * found.linkage, rows=records.shape[1])


def order(size: int, source: rng.Generator) -> Counts:
    """Return all places in random order."""
    return np.asarray(np.argsort(source.words(size)), dtype=np.int64)


def apart(kinds: Columns, rows: Codes, records: Codes) -> Array:
    """Return the squared distances of records: numbers on the scale of their bounds, and hierarchies, shape (rows,)."""
    total = np.zeros(rows.shape[1])
    for kind, own, new in zip(kinds, rows, records, strict=True):
        far = kind.scaled[own] - kind.scaled[new] if kind.numeric else kind.distance[own, new]
        total += far**2
    return total


def clusters(d: int, k: int, source: rng.Generator) -> Labels:
    """Return the cluster of every row by k-prototypes, which is private to nobody."""
    codes, kinds = adult(d)
    fitted = prototypes.fit(in_memory(codes), kinds, k, restarts=RESTARTS, rng=source)
    return np.unique(fitted.clusters.labels(codes), return_inverse=True)[1].astype(np.int32)


def around(d: int, groups: Labels, epsilon: str, source: rng.Generator) -> Codes:
    """Return the document's noisy record of every row around its group."""
    codes, kinds = adult(d)
    return grouped_noise.records(kinds, codes, groups, epsilon=Fraction(epsilon), rng=source)


def relabelled(d: int, k: int, trials: int, source: rng.Generator) -> list[int]:
    """Return how many other rows change their cluster when one is replaced by one at the bounds of all, by trial.

    Both clusterings start from the same random words.
    """
    codes, kinds = adult(d)
    out = []
    for seed in range(trials):
        one = int(source.words(1)[0] % np.uint64(codes.shape[1]))
        changed = codes.copy()
        changed[:, one] = [kind.size - 1 for kind in kinds]
        both = [
            prototypes.fit(in_memory(own), kinds, k, restarts=1, rng=rng.seeded(seed)).clusters.labels(own)
            for own in (codes, changed)
        ]
        out.append(int((both[0] != both[1]).sum()) - int(both[0][one] != both[1][one]))
    return out


def _dp_k_prototypes(d: int, k: int, epsilon: str, source: rng.Generator) -> tuple[Codes, int]:
    codes, kinds = adult(d)
    made = DpKPrototypes(columns=kinds, loss=PureDP(epsilon=epsilon), clusters=k, restarts=RESTARTS)
    return made.release(in_memory(codes), rng=source).codes, k


@functools.cache
def _groups(d: int, k: int) -> Labels:
    """Return MDAV's groups, the slow part of it, and the same every time."""
    codes, kinds = adult(d)
    return grouped(kinds, codes, k)


def _mdav(d: int, k: int, epsilon: str, source: rng.Generator) -> tuple[Codes, int]:
    return around(d, _groups(d, k), epsilon, source), k


def _per_record(d: int, epsilon: Fraction, source: rng.Generator) -> tuple[Codes, int]:
    codes, kinds = adult(d)
    made = PerRecord(columns=kinds, loss=PureDP(epsilon=epsilon), users=codes.shape[1])
    return made.perturbed(codes, rng=source), 0


def _insensitive(d: int, k: int, epsilon: str, source: rng.Generator) -> tuple[Codes, int]:
    codes, kinds = adult(d)
    loss, users = PureDP(epsilon=epsilon), codes.shape[1]
    return InsensitiveMicroaggregation(columns=kinds, loss=loss, users=users, group=k).aggregated(codes, rng=source), k


def _dp_prototypes(rows: Rows) -> Callable[[int, int, str, rng.Generator], tuple[Codes, int]]:
    def own(d: int, k: int, epsilon: str, source: rng.Generator) -> tuple[Codes, int]:
        codes, kinds = adult(d)
        made = dp_prototypes(kinds, PureDP(epsilon=epsilon), ROW, users=codes.shape[1], clusters=k or None, rows=rows)
        assert made is not None  # noqa: S101  # noise is calibrated to epsilon
        return made.release(in_memory(codes), rng=source).codes, made.clusters

    return own


METHODS: dict[str, Callable[[int, int, str, rng.Generator], tuple[Codes, int]]] = {
    "dp_k_prototypes": _dp_k_prototypes,
    "mdav": _mdav,
    "per_value": lambda d, _, epsilon, source: _per_record(d, d * Fraction(epsilon), source),
    "per_record": lambda d, _, epsilon, source: _per_record(d, Fraction(epsilon), source),
    "insensitive_microaggregation": _insensitive,
    "representative": _dp_prototypes("representative"),
    "mixture": _dp_prototypes("mixture"),
}
"""The document's three, the last of which gives every value the whole epsilon; and the four with a proof."""
ALIGNED = ("dp_k_prototypes", "mdav", "per_value", "per_record", "insensitive_microaggregation")
EACH = ("per_value", "per_record")
