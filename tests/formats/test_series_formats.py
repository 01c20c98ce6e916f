"""Every series that was ever stored is read today, answers as it did, and takes a further period."""

import json
import shutil
from pathlib import Path

import pytest
from tests.release.periods.months import MONTHS, ROWS, spec

from dpress.core.basics.errors import SchemaMismatch
from dpress.core.basics.rng import seeded
from dpress.release.periods.publish_period import publish_period
from dpress.release.periods.series import load_series

STORED = Path(__file__).with_name("stored_series")
PLACES = sorted(path.parent for path in STORED.glob("*/answers.json"))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_a_stored_series_answers_as_it_did_and_goes_on(place, tmp_path):
    folder = tmp_path / "series"
    shutil.copytree(place / "series", folder)
    series = load_series(folder)
    for text, (value, error) in json.loads((place / "answers.json").read_text()).items():
        found = series.query(text)
        assert (found.value, found.standard_error) == pytest.approx((value, error), rel=1e-9)
    publish_period(spec(place.name), MONTHS[4], ROWS, out=folder, rng=seeded(9))
    assert load_series(folder).periods == tuple(MONTHS[:5])
    (folder / "series.json").write_text((folder / "series.json").read_text().replace("hearts", "brains"))
    with pytest.raises(SchemaMismatch, match="is not of this series' specification"):
        load_series(folder).query("ward = eyes")


def test_one_of_every_counter_is_stored():
    assert {place.name for place in PLACES} == {"separate", "tree", "smooth"}
