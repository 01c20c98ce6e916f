"""Names of papers lead to methods that there are, and stand in no method's way."""

import pytest

from dpress import catalog
from dpress.core.methods.other_names import ELSEWHERE, NOISE, NOISES, SAME, hint_of

NAMES = tuple(catalog.entries())


@pytest.mark.parametrize(("name", "method"), SAME.items())
def test_a_name_of_a_paper_leads_to_a_method(name: str, method: str) -> None:
    assert method in NAMES
    assert name not in NAMES
    assert hint_of(name.upper().replace("_", "-"), NAMES) == f"; did you mean {method!r}?"


@pytest.mark.parametrize("name", [*NOISES, *ELSEWHERE])
def test_what_is_no_method_here_leads_to_none(name: str) -> None:
    assert name not in NAMES
    assert hint_of(name, NAMES) == (NOISE if name in NOISES else "")


def test_a_slip_is_hinted_as_before() -> None:
    assert hint_of("privlet", NAMES) == "; did you mean 'privelet'?"
