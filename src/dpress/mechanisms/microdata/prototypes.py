"""k-prototypes over codes: rounds of assignment and update that see the rows through sums alone.

Paper: Huang 1998; distances of categories after the document on microdata. The result is exact and private to nobody.
counts of every cluster's cells -> prototypes -> the cost of every cell -> each record to its cheapest cluster -> counts
"""

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpress.attributes.mixed import Column
from dpress.core.basics.compiled import compiled
from dpress.core.basics.rng import Generator, Words
from dpress.core.maps.linear import Array
from dpress.core.methods.people import Codes, Counts, People

Labels = npt.NDArray[np.int32]
Starts = npt.NDArray[np.int64]
Beginning = Literal["far apart", "random"]

THREADS = 2
SLICE = 1 << 12  # rows for which another thread pays for its start
ROUNDS = 200  # never seen to be needed; rounding could make two assignments take turns
SPARE = 30  # places for candidates, for each cluster
TRIALS = 20  # candidates drawn for a prototype, of which the best is kept


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clusters:
    """Prototypes by what they cost: the dissimilarity of two records is a sum of one table entry an attribute.

    A number costs weight (x - mean)^2 with x scaled to its bounds, a category weight times its distance from the
    cluster's best category, which is the one of least total distance.

    Args:
        columns: of the records.
        costs: of every cell of every attribute, one after the other, for every cluster, shape (cells, clusters).
    """

    columns: tuple[Column, ...]
    costs: Array

    @property
    def size(self) -> int:
        """The number of clusters."""
        return int(self.costs.shape[1])

    def labels(self, codes: Codes) -> Labels:
        """Return the cheapest cluster of every record, the first of several, shape (rows,)."""
        return self._assign(codes)[0]

    def counts(self, codes: Codes) -> Counts:
        """Return how often every cell occurs in every cluster, shape (clusters, cells): a kernel."""
        return self._assign(codes)[1]

    def loss(self, counts: Counts) -> float:
        """Return the cost of all records from the counts that `counts` gives for these prototypes."""
        return float((counts * self.costs.T).sum())

    def updated(self, counts: Counts) -> "Clusters":
        """Return the prototypes of these clusters; an empty one keeps its own."""
        costs = prototypes(self.columns, counts).costs
        return Clusters(columns=self.columns, costs=np.where(sizes(self.columns, counts) > 0, costs, self.costs))

    def _assign(self, codes: Codes) -> tuple[Labels, Counts]:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # brings logging; only a pass needs it

        rows, starts, assign = codes.shape[1], offsets(self.columns), compiled(assign_each)
        labels = np.empty(rows, dtype=np.int32)
        edges = np.linspace(0, rows, max(1, min(THREADS, rows // SLICE)) + 1).astype(int)

        def part(low: int, high: int) -> Counts:
            counts = np.zeros((self.size, len(self.costs)), dtype=np.int64)
            assign(codes[:, low:high], starts, self.costs, labels[low:high], counts)
            return counts

        with ThreadPoolExecutor(THREADS) as pool:
            total = sum(pool.map(part, edges[:-1], edges[1:]), np.zeros((), dtype=np.int64))
        return labels, total


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clustering:
    """The best of several runs.

    Args:
        clusters: the prototypes.
        counts: of every cluster's cells, shape (clusters, cells).
        loss: the cost of all records.
    """

    clusters: Clusters
    counts: Counts
    loss: float


def offsets(columns: tuple[Column, ...]) -> Starts:
    """Return the place of every attribute's first cell among all cells, and last their number."""
    return np.cumsum([0, *(column.size for column in columns)])


def sizes(columns: tuple[Column, ...], counts: Counts) -> Counts:
    """Return the number of records of every cluster, shape (clusters,)."""
    return np.asarray(counts[:, : columns[0].size].sum(axis=1))


def prototypes(columns: tuple[Column, ...], counts: Counts) -> Clusters:
    """Return the prototypes of clusters with these counts of cells, shape (clusters, cells)."""
    parts = np.split(counts, offsets(columns)[1:-1], axis=1)
    return Clusters(columns=columns, costs=np.concatenate([_cost(*pair) for pair in zip(columns, parts, strict=True)]))


def _cost(column: Column, counts: Counts) -> Array:
    """Return the cost of every cell for every cluster, shape (size, clusters)."""
    if column.numeric:
        means = counts @ column.units / np.maximum(counts.sum(axis=1), 1) / (2 * max(column.span, 1))
        return np.asarray(column.weight * (column.scaled[:, None] - means) ** 2)
    return np.asarray(column.weight * column.distance[:, (counts @ column.distance).argmin(axis=1)])


def fit(
    people: People,
    columns: tuple[Column, ...],
    clusters: int,
    *,
    restarts: int,
    rng: Generator,
    starts: Beginning = "far apart",
) -> Clustering:
    """Return the best clusters of several runs, each from records drawn at random, until no record moves.

    Time: a round costs rows x clusters x attributes additions; memory does not grow with the rows.

    Args:
        people: the rows.
        columns: at least one.
        clusters: how many.
        restarts: the number of runs.
        rng: draws the records to start from.
        starts: how they are drawn, see `start`.

    Raises:
        ValueError: there are fewer rows than clusters.
    """
    rows = int(people.fold(lambda codes: np.array([codes.shape[1]])).sum())
    if rows < clusters:
        raise ValueError(f"clusters must be at most the number of rows, got clusters={clusters}")
    runs = (_run(people, start(people, columns, clusters, rows, rng=rng, starts=starts)) for _ in range(restarts))
    return min(runs, key=lambda run: run.loss)


def _run(people: People, clusters: Clusters) -> Clustering:
    counts = people.fold(clusters.counts)
    for _ in range(ROUNDS):
        clusters, before = clusters.updated(counts), counts
        counts = people.fold(clusters.counts)
        if np.array_equal(counts, before):
            break
    return Clustering(clusters=clusters, counts=counts, loss=clusters.loss(counts))


def start(
    people: People,
    columns: tuple[Column, ...],
    clusters: int,
    rows: int,
    *,
    rng: Generator,
    starts: Beginning = "far apart",
) -> Clusters:
    """Return prototypes that are records drawn at random, through sums alone.

    A keyed hash of the record sends about as many records as there are places to a random place each; a place that
    holds one record, or copies of one, is a candidate. Where that gives too few, all records are sent somewhere, and
    a place with several records stands for their prototype. Of the candidates "random" draws each with probability
    proportional to its copies, none twice: every row is as likely as any other, as the document has it. "far apart"
    takes the best of several that are drawn with probability proportional to their cost so far, one after the other
    (Arthur and Vassilvitskii 2007).
    """
    places = SPARE * clusters
    histograms: list[Counts] = []
    for among in (max(places, rows), places):
        counts = people.fold(functools.partial(_scatter, columns, rng.words(len(columns) + 1), places, among))
        histograms = [*histograms, counts[(counts > 0).sum(axis=1) == len(columns)]]
        if len(histograms[0]) >= clusters:
            break
    else:
        histograms = [*histograms, counts[sizes(columns, counts) > 0]]
    candidates = np.concatenate(histograms)
    if starts == "random":
        return prototypes(columns, candidates[_by_copies(sizes(columns, candidates), clusters, rng=rng)])
    return prototypes(columns, candidates[_far_apart(columns, candidates, clusters, rng=rng)])


def _by_copies(copies: Counts, clusters: int, *, rng: Generator) -> Starts:
    """Return the places of candidates drawn by their copies, without replacement; where there are too few, again.

    The smallest of exponential variables of rate `copies` are such a draw (Efraimidis and Spirakis 2006).
    """
    keys = -np.log((rng.words(len(copies)) >> np.uint64(11)) * 2.0**-53 + 2.0**-54) / copies
    return np.resize(np.argsort(keys, kind="stable"), clusters)


def _far_apart(columns: tuple[Column, ...], candidates: Counts, clusters: int, *, rng: Generator) -> Starts:
    """Return the places of candidates drawn by their cost; any again once none costs more than nothing."""
    shares = candidates / sizes(columns, candidates)[:, None]
    weights, chosen = np.ones(len(shares)), np.empty(clusters, dtype=np.int64)
    for i, words in enumerate(rng.words(clusters * TRIALS).reshape(clusters, TRIALS)):
        drawn = np.searchsorted(weights.cumsum(), words * 2.0**-64 * weights.sum(), side="right")
        drawn = np.minimum(drawn, len(shares) - 1)
        cost = shares @ prototypes(columns, candidates[drawn]).costs
        left = cost if i == 0 else np.minimum(weights[:, None], cost)
        best = left.sum(axis=0).argmin()
        chosen[i], weights = drawn[best], left[:, best]
    return chosen


def _scatter(columns: tuple[Column, ...], key: Words, places: int, among: int, codes: Codes) -> Counts:
    """Return the counts of cells in every place; a record goes to one of `among`, of which the first are kept."""
    place = _mixed(codes, key) % np.uint64(among)
    chosen = np.flatnonzero(place < places)
    starts = offsets(columns)
    counts = np.zeros((places, starts[-1]), dtype=np.int64)
    np.add.at(counts, (place[chosen].astype(np.int64), starts[:-1, None] + codes[:, chosen]), 1)
    return counts


def _mixed(codes: Codes, key: Words) -> Words:
    """Return a keyed hash of every record: products with odd numbers, and the finish of splitmix64."""
    mixed = np.full(codes.shape[1], key[-1])
    for column_codes, factor in zip(codes, key | np.uint64(1), strict=False):
        mixed = (mixed ^ mixed >> np.uint64(29)) * factor + column_codes.astype(np.uint64)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ mixed >> np.uint64(31))


def assign_each(codes: Codes, starts: Starts, costs: Array, labels: Labels, counts: Counts) -> None:
    """Write the cheapest cluster of every record, and add its cells to that cluster's counts.

    Plain Python that numba compiles: the inner loop runs over clusters, side by side in the table of costs.
    """
    clusters = costs.shape[1]
    total = np.empty(clusters)
    for i in range(codes.shape[1]):
        row = costs[starts[0] + codes[0, i]]
        for j in range(clusters):
            total[j] = row[j]
        for a in range(1, codes.shape[0]):
            row = costs[starts[a] + codes[a, i]]
            for j in range(clusters):
                total[j] += row[j]
        best = 0
        for j in range(1, clusters):
            if total[j] < total[best]:
                best = j
        labels[i] = best
        for a in range(codes.shape[0]):
            counts[best, starts[a] + codes[a, i]] += 1
