"""Every public function and class shows how it is used; that what is shown runs, the doctests of the package check."""

import pytest

import dpress

SHOWN = [
    name
    for name in dpress.__all__
    if callable(one := getattr(dpress, name)) and not (isinstance(one, type) and issubclass(one, Exception))
]


@pytest.mark.parametrize("name", SHOWN)
def test_it_has_a_short_example(name):
    shown = [one.strip() for one in getattr(dpress, name).__doc__.splitlines()]
    typed = [one for one in shown if one.startswith((">>>", "..."))]
    assert 1 <= len(typed) <= 7
