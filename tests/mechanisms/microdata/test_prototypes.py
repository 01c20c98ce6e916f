"""k-prototypes: costs are distances, rounds lower the loss, batches and compilation change nothing."""

import numpy as np
import pytest

from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.mixed import columns
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics import rng
from dpress.core.basics.compiled import compiled
from dpress.core.methods.people import in_memory
from dpress.mechanisms.microdata import prototypes
from dpress.mechanisms.microdata.prototypes import Clusters, assign_each, fit, offsets, sizes

TREE = (("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"))
COLUMNS = columns(
    [
        Integer(name="age", bounds=(0, 30)),
        Categorical(name="work", values=("a", "b", "c", "d"), hierarchy=TREE),
        Categorical(name="sex", values=("f", "m")),
    ],
    (2.0, 0.7, 0.4),
)


def table(rows: int, seed: int = 1) -> np.ndarray:
    words = rng.seeded(seed).words(3 * rows).reshape(3, rows)
    return np.stack([own % np.uint64(column.size) for own, column in zip(words, COLUMNS, strict=True)]).astype(np.int32)


def dense_costs(codes: np.ndarray, members: list[np.ndarray]) -> np.ndarray:
    """The dissimilarity of every record from every group's prototype, from its definition."""
    found = np.zeros((codes.shape[1], len(members)))
    for place, group in enumerate(members):
        for column, own, theirs in zip(COLUMNS, codes, group, strict=True):
            if column.numeric:
                apart = (own / 30 - theirs.mean() / 30) ** 2
            else:
                best = min(range(column.size), key=lambda code: column.distance[code, theirs].sum())
                apart = column.distance[own, best]
            found[:, place] += column.weight * apart
    return found


def counts_of(members: list[np.ndarray]) -> np.ndarray:
    counts = np.zeros((len(members), offsets(COLUMNS)[-1]), dtype=np.int64)
    for own, group in zip(counts, members, strict=True):
        np.add.at(own, group + offsets(COLUMNS)[:-1, None], 1)
    return counts


def test_costs_are_the_dissimilarity_from_means_and_best_categories():
    codes, members = table(40), [table(5, 2), table(9, 3), table(1, 4)]
    clusters = prototypes.prototypes(COLUMNS, counts_of(members))
    wanted = dense_costs(codes, members)
    starts = offsets(COLUMNS)[:-1, None]
    np.testing.assert_allclose(clusters.costs[codes + starts].sum(axis=0), wanted)
    np.testing.assert_array_equal(clusters.labels(codes), wanted.argmin(axis=1))
    assert clusters.loss(clusters.counts(codes)) == pytest.approx(wanted.min(axis=1).sum())


def test_the_compiled_kernel_does_what_its_python_says():
    codes, costs = table(300), rng.seeded(5).words(37 * 7).reshape(37, 7) * 2.0**-64
    results = []
    for function in (assign_each, compiled(assign_each)):
        labels, counts = np.empty(300, dtype=np.int32), np.zeros((7, 37), dtype=np.int64)
        function(codes, offsets(COLUMNS), costs, labels, counts)
        results.append((labels.tolist(), counts.tolist()))
    assert results[0] == results[1]
    assert len(set(results[0][0])) >= 5


def test_slices_on_threads_and_batches_change_nothing():
    codes = table(20_000)
    clusters = Clusters(columns=COLUMNS, costs=rng.seeded(5).words(37 * 7).reshape(37, 7) * 2.0**-64)
    whole = clusters.counts(codes)
    labels = clusters.labels(codes)
    assert sizes(COLUMNS, whole).tolist() == np.bincount(labels, minlength=7).tolist()
    np.testing.assert_array_equal(in_memory(codes, batch=777).fold(clusters.counts), whole)
    one, other = (
        fit(in_memory(codes[:, :3000], batch=batch), COLUMNS, 6, restarts=2, rng=rng.seeded(1)) for batch in (3000, 251)
    )
    assert one.loss == other.loss
    np.testing.assert_array_equal(one.counts, other.counts)


def test_rounds_end_where_no_record_moves_and_restarts_keep_the_least_loss():
    people = in_memory(table(2000))
    found = fit(people, COLUMNS, 8, restarts=3, rng=rng.seeded(3))
    np.testing.assert_array_equal(people.fold(found.clusters.updated(found.counts).counts), found.counts)
    alone = fit(people, COLUMNS, 8, restarts=1, rng=rng.seeded(3))
    assert found.loss <= alone.loss
    assert found.loss < fit(people, COLUMNS, 1, restarts=1, rng=rng.seeded(3)).loss
    assert found.loss == pytest.approx(found.clusters.loss(people.fold(found.clusters.counts)))


def test_clear_clusters_are_found():
    centres = np.array([[2, 15, 28, 5], [0, 3, 1, 2], [0, 1, 0, 1]], dtype=np.int32)
    codes = np.repeat(centres, 50, axis=1)
    codes[0] += (rng.seeded(1).words(200) % np.uint64(3)).astype(np.int32) - 1
    labels = fit(in_memory(codes), COLUMNS, 4, restarts=4, rng=rng.seeded(2)).clusters.labels(codes).reshape(4, 50)
    assert (labels == labels[:, :1]).all()
    assert len(set(labels[:, 0].tolist())) == 4


def test_more_clusters_than_different_records_leave_some_empty():
    codes = np.repeat(table(3), 20, axis=1)
    found = fit(in_memory(codes), COLUMNS, 5, restarts=1, rng=rng.seeded(2))
    assert found.loss == pytest.approx(0, abs=1e-12)
    assert (sizes(COLUMNS, found.counts) > 0).sum() == 3
    with pytest.raises(ValueError, match="clusters must be at most the number of rows, got clusters=61"):
        fit(in_memory(codes), COLUMNS, 61, restarts=1, rng=rng.seeded(2))


def test_a_start_is_made_of_records_spread_over_the_table():
    codes = table(5000)
    starts = [prototypes.start(in_memory(codes), COLUMNS, 10, 5000, rng=rng.seeded(seed)) for seed in (1, 1, 2)]
    assert (starts[0].costs == starts[1].costs).all()
    assert (starts[0].costs != starts[2].costs).any()
    at = starts[0].costs[codes + offsets(COLUMNS)[:-1, None]].sum(axis=0)
    assert np.isclose(at.min(axis=0), 0).all()
    assert len(np.unique(starts[0].costs, axis=1).T) >= 8


def test_random_starts_are_rows_each_as_likely_as_any_other():
    """Copies of one record, 3 in 10 rows, are drawn first in 30 %; starts that are far apart take it far less often."""
    codes = np.repeat(np.array([[0, 5, 10, 15, 20, 25, 30, 30], [0] * 8, [0] * 8]), [3, 1, 1, 1, 1, 1, 1, 1], axis=1)
    codes = codes.astype(np.int32)
    generator, draws = rng.seeded(7), 400
    copied = 0
    for _ in range(draws):
        found = prototypes.start(in_memory(codes), COLUMNS, 1, 10, rng=generator, starts="random")
        copied += found.costs[0, 0] == 0
    assert abs(copied / draws - 0.3) < 5 * np.sqrt(0.3 * 0.7 / draws)


def test_random_starts_draw_no_record_twice_unless_there_are_too_few():
    codes = np.stack([np.arange(6), np.zeros(6), np.zeros(6)]).astype(np.int32)
    places = prototypes._by_copies(np.arange(1, 7), 6, rng=rng.seeded(1))
    assert sorted(places.tolist()) == [0, 1, 2, 3, 4, 5]
    assert prototypes._by_copies(np.array([1, 1]), 5, rng=rng.seeded(1)).size == 5
    found = fit(in_memory(codes), COLUMNS, 6, restarts=1, rng=rng.seeded(2), starts="random")
    assert found.loss == pytest.approx(0)


def test_starts_far_apart_lose_less_than_random_ones_on_average():
    codes = np.stack([np.repeat([1, 15, 29], [500, 20, 20]), np.repeat([0, 1, 2], [500, 20, 20]), np.zeros(540)])
    codes = codes.astype(np.int32)
    losses = {
        starts: np.mean(
            [
                fit(in_memory(codes), COLUMNS, 3, restarts=1, rng=rng.seeded(seed), starts=starts).loss
                for seed in range(12)
            ]
        )
        for starts in ("far apart", "random")
    }
    assert losses["far apart"] < losses["random"]
