"""Schemas: the axes of a table, and one clear line for what cannot be."""

import pytest

from dpress.attributes.attribute import Attribute
from dpress.attributes.domain import Schema
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.location.attribute import Location
from dpress.attributes.numbers.attribute import Integer
from dpress.core.basics.errors import NotSupported, SchemaMismatch

SEX = Categorical(name="sex", values=("F", "M"))
AGE = Integer(name="age", bounds=(0, 9))


def test_a_location_is_no_axis() -> None:
    place = Location(name="place", pair=("lon", "lat"), bounds=((-1.0, 1.0), (0.0, 2.0)))
    with pytest.raises(NotSupported, match="a location has no cells of its own"):
        _ = Schema((place,)).shape


def test_a_schema_has_the_axes_of_its_attributes_in_order() -> None:
    schema = Schema((SEX, AGE))
    assert schema.names == ("sex", "age")
    assert schema.shape == (2, 10)
    assert schema.size == 20
    assert schema.axes(["age", "sex"]) == (1, 0)
    assert schema.subset(["age"]) == Schema((AGE,))
    assert schema.attribute("sex") is SEX


@pytest.mark.parametrize("attributes", [(SEX, SEX), (Integer(name="", bounds=(0, 1)),)])
def test_attributes_without_a_name_of_their_own_are_refused(attributes: tuple[Attribute, ...]) -> None:
    with pytest.raises(ValueError, match="different, non-empty names"):
        Schema(attributes)


def test_an_unknown_attribute_is_refused_with_those_there_are() -> None:
    with pytest.raises(SchemaMismatch, match="there is no attribute 'job'; the attributes are sex, age"):
        Schema((SEX, AGE)).axes(["job"])
