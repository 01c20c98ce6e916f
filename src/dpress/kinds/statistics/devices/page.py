"""What the page of devices' statistics says beyond all others: what devices were asked, and the distributions."""

from typing import Any

import numpy as np

from dpress.kinds.statistics.devices.answers import ANSWERING
from dpress.kinds.statistics.group_figures import rose_of, shape_of
from dpress.query.release import Release
from dpress.reporting.rounding import number


def made(release: Release) -> dict[str, Any]:
    """Return what devices were asked about every number, and how the numbers are distributed."""
    answers = ANSWERING.of(release)
    everybody, reported, shapes = np.ones(answers.size, dtype=bool), [], []
    for numbers in answers.numbers:
        attribute, oracle, caption = numbers.attribute, numbers.oracle, numbers.attribute.caption
        reported.append((caption, number(attribute.ordered), number(oracle.outputs), number(oracle.width)))
        if numbers.quantiles or numbers.circular:
            prefixes, _ = numbers.prefixes(everybody)
            drawing = rose_of if numbers.circular else shape_of
            shapes.append((caption, drawing(prefixes.tolist(), attribute.edges.tolist(), caption)))
    return {"noises": (), "shared_out": False, "asked": reported, "shapes": shapes}
