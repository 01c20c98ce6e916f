"""Statistics of devices against the truth. Not private."""

from collections.abc import Sequence

import numpy as np

from dpress.core.maps.linear import Numbers
from dpress.data.true_counts import true_counts
from dpress.inference.interval import critical
from dpress.kinds.statistics.devices.answers import ANSWERING, DeviceAnswers
from dpress.kinds.statistics.devices.estimates import CountedNumbers, DeviceEstimates
from dpress.kinds.statistics.evaluate import Truth, metrics_of
from dpress.kinds.statistics.group_results import COUNT, GroupResults
from dpress.query.published_tables import CONFIDENCE
from dpress.query.release import Release
from dpress.release.truth.evaluate import TrueRows


def evaluate(release: Release, rows: TrueRows) -> dict[str, float]:
    """Return for every statistic the errors over all groups that have rows; see `metrics_of`."""
    published = ANSWERING.of(release)
    tables = [report_type.axes for report_type in published.estimator.types]
    counts = true_counts(release.schema, tables, rows.data, release.claim.unit, progress=rows.progress)
    true = _true_groups(published, counts)
    truth = Truth(results=GroupResults(sums=true, chosen={}), filled=true.of(COUNT).value > 0)
    return metrics_of(published.groups(), truth, published.periods)


def _true_groups(published: DeviceAnswers, counts: Numbers) -> DeviceEstimates:
    """Return the statistics of exact counts of every number's table, one after the other: private."""
    shapes: Sequence[tuple[int, int]] = [(oracle.groups, oracle.levels) for oracle in published.estimator.oracles]
    parts = np.split(counts, np.cumsum([groups * levels for groups, levels in shapes])[:-1])
    numbers = tuple(
        CountedNumbers(
            attribute=numbers.attribute,
            degree=numbers.degree,
            quantiles=numbers.quantiles,
            counts=part.reshape(shape),
            circular=numbers.circular,
        )
        for numbers, part, shape in zip(published.numbers, parts, shapes, strict=True)
    )
    masks, z = np.eye(published.size, dtype=bool), critical(CONFIDENCE, "gaussian")
    return DeviceEstimates(numbers=numbers, masks=masks, users=numbers[0].users, z=z)
