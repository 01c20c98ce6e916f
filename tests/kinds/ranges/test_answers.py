"""Many ranges, or boxes, at once."""

import pytest

from dpress import publish


def test_many_ranges_are_answered_as_one_by_one_and_another_shape_is_refused(make_spec, rows):
    release = publish(make_spec("ranges", ["age"]), rows)
    found, one = release.answers.query_ranges([1, 3], [10, 5]).to_pylist()[1], release.query("age in 2..4")
    assert (found["count"], found["standard_error"]) == pytest.approx((one.value, one.standard_error))
    assert release.answers.query_ranges([], []).num_rows == 0
    with pytest.raises(ValueError, match=r"left must have the shape \(m,\) for one attribute, got \(3, 2\)"):
        release.answers.query_ranges([[1, 2]] * 3, [[3, 4]] * 3)


def test_many_boxes_have_one_column_for_each_attribute(make_spec, rows):
    release = publish(make_spec("ranges", ["age", "size"]), rows)
    found, one = release.answers.query_ranges([[3, 1]], [[5, 4]]).to_pylist()[0], release.query("age in 2..4")
    assert (found["count"], found["standard_error"]) == pytest.approx((one.value, one.standard_error))
    assert release.answers.query_ranges([], []).num_rows == 0
    for wrong in ([1, 2], [[1, 2, 3]], 1):
        with pytest.raises(ValueError, match=r"left must have the shape \(m, 2\) for 2 attributes"):
            release.answers.query_ranges(wrong, wrong)
    with pytest.raises(ValueError, match="left and right must have one shape"):
        release.answers.query_ranges([[1, 1]], [[2, 2], [3, 3]])
    with pytest.raises(ValueError, match="right: the rows of the list have different lengths"):
        release.answers.query_ranges([[1, 1], [1, 1]], [[1], [1, 2]])
