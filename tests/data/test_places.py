"""Columns of positions that look exchanged."""

import pyarrow as pa
import pytest

from dpress.attributes.location.attribute import Location
from dpress.core.basics.errors import SchemaMismatch
from dpress.data.places import counted, exchanged

PLACE = Location(name="place", pair=("lon", "lat"), bounds=((-125.0, -66.5), (24.5, 49.5)))
IN, TURNED, FAR = (-74.0, 40.7), (40.7, -74.0), (200.0, 200.0)


def table(*points, kind=None):
    lon, lat = zip(*points, strict=True)
    return pa.table({"lon": pa.array(lon, type=kind), "lat": pa.array(lat, type=kind)})


@pytest.mark.parametrize(
    ("points", "found"),
    [
        ([IN] * 3, False),
        ([TURNED] * 3, True),
        ([TURNED] * 99 + [IN], False),  # one position in the box is enough
        ([TURNED, TURNED, FAR], True),
        ([TURNED, FAR, FAR], False),
        ([FAR] * 3, False),
        ([TURNED, TURNED, (None, None)], True),
    ],
)
def test_exchanged_columns_are_seen_by_counts_alone(points, found):
    assert exchanged(PLACE, table(*points)) is found


def test_text_is_read_and_what_holds_no_numbers_is_refused():
    text = table(*[tuple(map(str, TURNED))] * 3, kind=pa.string())
    assert exchanged(PLACE, text)
    with pytest.raises(SchemaMismatch, match="no column 'lat'"):
        exchanged(PLACE, table(TURNED).drop_columns("lat"))


def test_a_square_box_turned_is_no_remark():
    """Where both columns have the same bounds a position fits either way, and lies in the box."""
    square = Location(name="place", pair=("x", "y"), bounds=((0.0, 9.0), (0.0, 9.0)))
    batch = pa.record_batch({"x": [1.0, 20.0], "y": [2.0, 3.0]})
    assert counted(square, batch) == (1, 1)
