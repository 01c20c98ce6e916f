"""The errors of a map against the truth."""

import numpy as np
import pytest
from tests.kinds.spatial.towns import USERS, places, table

from dpress.release.truth.evaluate import evaluate


def test_the_error_against_the_truth_is_that_of_its_rectangles(released):
    found = evaluate(released[0], table(places()))
    assert found["rows"] == USERS
    assert 0 < found["mean_absolute_error"] <= found["root_mean_squared_error"]
    assert found["mean_absolute_error_share"] == pytest.approx(found["mean_absolute_error"] / USERS)
    assert found["within_interval"] > 0.8
    elsewhere = evaluate(released[0], table(np.array([[8.0], [4.0]]) - places()))
    assert elsewhere["mean_absolute_error"] > 3 * found["mean_absolute_error"]
    assert elsewhere["within_interval"] < found["within_interval"] - 0.2
