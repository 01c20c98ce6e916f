"""The cells of a published table, as its decoder or its estimator has them, with their covariance.

measurement -> the smallest table that holds the attributes -> counts, and the exact covariance of their sums.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from dpress.inference.covariance import Covariance
from dpress.query.cell_table import Axes, Counted, marginal

if TYPE_CHECKING:
    from dpress.query.table_answers import TableAnswers


def cells_of(answers: "TableAnswers", axes: Axes) -> Counted | None:
    """Return the cells of some attributes that a table holds together; None where how they depend is not known.

    Args:
        answers: of the release.
        axes: rising.
    """
    shape, tables = answers.release.schema.shape, answers.decoder.tables
    holding = [place for place, table in enumerate(tables) if set(axes) <= set(table)]
    place = min(holding, key=lambda place: math.prod(shape[axis] for axis in tables[place]))
    if (covariance := _covariance(answers, axes)) is None:
        return None
    cells = answers.decoder.estimate(answers.measurement)[place].reshape([shape[axis] for axis in tables[place]])
    return marginal(cells.transpose(np.argsort(tables[place])), tuple(sorted(tables[place])), axes), covariance


def _covariance(answers: "TableAnswers", axes: Axes) -> Covariance | None:
    collection = answers.release.collection
    if collection is None:
        return answers.decoder.form_covariance(answers.measurement.variance, axes)
    return collection.estimator.form_covariance(collection.tallies_in(answers.release.kept), axes)
