"""Refuses values that the specification does not list, with their place in the statement, before it is planned."""

from collections.abc import Sequence

from dpress.attributes.attribute import Attribute
from dpress.query.condition_cells import cells_of
from dpress.query.query_tree import Condition
from dpress.query.sql.sql_refusal import SqlRefusal
from dpress.query.sql.statement import Statement
from dpress.release.statements.parts import attribute_tests


def check_values(statements: Sequence[Statement], attributes: Sequence[Attribute], text: str) -> None:
    """Refuse a test of a value that its attribute does not list, or that cuts a cell; no row decides that.

    Raises:
        SqlRefusal: naming the value, at the first place where it stands.
    """
    by_name = {attribute.name: attribute for attribute in attributes}
    for test in attribute_tests(statements):
        if not (attribute := by_name[test.attribute]).discovered:
            _check(attribute, test, text)


def _check(attribute: Attribute, test: Condition, text: str) -> None:
    try:
        cells_of(attribute.with_cells, test)
    except ValueError as fault:
        written = next((value for value in test.values if repr(value) in str(fault)), "".join(test.values[:1]))
        start = text.find(written) if written else text.find(attribute.name)
        raise SqlRefusal(str(fault), text, start if start >= 0 else None, len(written or attribute.name)) from None
