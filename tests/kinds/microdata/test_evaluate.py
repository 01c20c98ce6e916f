"""Records against the rows that they were made from."""

import numpy as np
import pytest
from tests.kinds.microdata.people import ATTRIBUTES, spec, table

from dpress import publish
from dpress.core.basics.errors import NotSupported
from dpress.kinds.microdata.linkage import linked, nearest
from dpress.release.truth.evaluate import evaluate


def test_more_budget_means_records_nearer_to_the_rows():
    weak, strong = (publish(spec("dp_prototypes", {"epsilon": e}, clusters=3), table(1000)) for e in (0.01, 100))
    found = [evaluate(own, table(1000)) for own in (weak, strong)]
    assert found[1]["one_way_total_variation"] < 0.02 < found[0]["one_way_total_variation"]
    assert found[1]["range_mean_absolute_error_share"] < found[0]["range_mean_absolute_error_share"]


def test_linkage_is_as_the_document_defines_it():
    own = publish(spec(clusters=3), table()).answers.maker.columns
    rows = np.array([[0, 0, 9], [0, 0, 3], [0, 0, 2]], dtype=np.int32)
    distance, ties, _ = nearest(own, rows, rows)
    assert distance.tolist() == [0, 0, 0]
    assert ties.tolist() == [2, 2, 1]
    assert linked(own, rows, rows, aligned=True).linkage == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    turned = rows[:, [2, 0, 1]]
    assert linked(own, rows, turned, aligned=True).linkage == pytest.approx(1 / 2 / 3)  # one of three in its place
    matched = linked(own, rows, turned, aligned=False)
    assert matched.linkage == pytest.approx(2 / 3)
    assert sorted(matched.original.tolist()) == [0, 1, 2]
    assert linked(own, rows, rows[:, [0, 1, 2, 2]], aligned=False).original.size == 4


def test_beyond_the_assignment_the_nearest_row_stands_in(monkeypatch):
    monkeypatch.setattr("dpress.kinds.microdata.linkage.ASSIGNED", 10)
    metrics = evaluate(publish(spec("dp_prototypes", clusters=3), table()), table())
    assert "nearest_squared_error" in metrics
    assert "record_linkage_percent" not in metrics
    assert 0 < metrics["record_linkage_percent_at_most"] <= 100


@pytest.mark.slow
def test_a_classifier_trained_on_records_is_tested_on_rows_held_out():
    pytest.importorskip("sklearn")
    own = publish(spec("dp_prototypes", {"epsilon": 50.0}, clusters=6), table(600))
    metrics = evaluate(own, table(600), held_out=table(200))
    assert metrics["classifier_accuracy_trained_on_rows"] == 1
    assert metrics["classifier_accuracy"] > metrics["classifier_accuracy_of_commonest"] + 0.2
    numbers = publish(spec(attributes=ATTRIBUTES[:2], clusters=2), table())
    with pytest.raises(NotSupported, match="no classifier: the last attribute"):
        evaluate(numbers, table(), held_out=table())
