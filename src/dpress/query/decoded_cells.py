"""The cells of a published table, as its decoder or its estimator has them, with their covariance.

measurement -> the smallest table that holds the attributes -> counts, and the exact covariance of their sums.
"""

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from dpress.core.maps.linear import Array
from dpress.inference.covariance import Covariance
from dpress.query.cell_table import Axes, Counted, marginal, of_variances

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
    if (covariance := _covariance(answers, axes, tables[place])) is None:
        return None
    cells = answers.decoder.estimate(answers.measurement)[place].reshape([shape[axis] for axis in tables[place]])
    return marginal(cells.transpose(np.argsort(tables[place])), tuple(sorted(tables[place])), axes), covariance


def _covariance(answers: "TableAnswers", axes: Axes, table: Axes) -> Covariance | None:
    decoder, spread, collection = answers.decoder, answers.measurement.variance, answers.release.collection
    if collection is None:
        cell = np.zeros((1, *(answers.release.schema.shape[axis] for axis in axes)))
        exact = decoder.form_covariance(spread, axes, cell) is not None
        return (lambda forms: cast("Array", decoder.form_covariance(spread, axes, forms))) if exact else None
    variances = collection.estimator.form_variances(collection.tallies_in(answers.release.kept))
    if variances is None:
        return None
    kept = [answers.release.schema.shape[axis] if axis in axes else 1 for axis in table]
    whole = [answers.release.schema.shape[axis] for axis in table]
    return of_variances(lambda form: variances(table, np.broadcast_to(form.reshape(kept), whole)))
