"""What reports in all rounds spend together: the sum, a permanent response's lifetime, or nothing to add up."""

import math

import msgspec
import pytest
from tests.service.pages.collections_of import designed
from tests.service.served import design

from dpress.query.designs import collection_of
from dpress.service.served import further, together


def spent(asked, number):
    """Return what is said in a round of a collection that is repeated."""
    again = msgspec.structs.replace(asked, round=number)
    return together(again, collection_of(again))


@pytest.mark.parametrize(("number", "epsilon"), [(0, None), (1, 2.0), (11, 12.0)])
def test_losses_of_rounds_add_up(number, epsilon):
    assert spent(design(method="krr"), number) == epsilon


def test_a_permanent_response_is_spent_once_however_many_rounds_there_are():
    asked = design(method="rr_ldp")
    lifetime = float(collection_of(asked).lifetime.epsilon)
    assert spent(asked, 1) == spent(asked, 11) == pytest.approx(lifetime)
    assert not math.isclose(lifetime, 12)  # the control: it is not the sum


def test_a_device_that_answers_one_round_of_several_has_nothing_to_add_up():
    asked = designed("rounds")
    assert len(asked.ask.rounds.types) == 3
    assert together(asked, collection_of(asked)) is further(asked, collection_of(asked)) is None


@pytest.mark.parametrize("number", [0, 1, 11])
def test_a_round_more_adds_what_the_sum_grows_by(number):
    for asked in (design(method="krr"), design(method="rr_ldp")):
        again = msgspec.structs.replace(asked, round=number)
        added = further(again, collection_of(again))
        if number:
            assert added == pytest.approx(spent(asked, number + 1) - spent(asked, number))
    assert (added == 0) == (number > 0)  # of the permanent response, once it is spent
