"""Conditions in the words of people: titles of attributes, labels of values, units of numbers.

text of a query, or its tree -> the same with titles; it is read, and no query.
"""

from dpress.attributes.attribute import Tabular
from dpress.attributes.domain import Schema
from dpress.query.query_tree import Condition
from dpress.query.schema_queries import conditions_of


def titled_text(schema: Schema, text: str) -> str:
    """Return conditions as people read them; as they are where they cannot be read.

    >>> from dpress.attributes.listed.attribute import Categorical
    >>> sex = Categorical(name="sex", title="Sex", values=("f", "m"), value_labels={"f": "Women"})
    >>> titled_text(Schema((sex,)), "sex = f or not sex in (f, m)")
    'Sex = Women or not (Sex in (Women, m))'
    """
    try:
        return titled_condition(schema, conditions_of(schema, text))
    except ValueError:
        return text


def titled_condition(schema: Schema, condition: Condition) -> str:
    """Return a tree of conditions as people read it."""
    if condition.attribute:
        return _test(schema, condition)
    parts = [_part(schema, part, condition.word) for part in condition.parts]
    return f"not {parts[0]}" if condition.word == "not" else f" {condition.word} ".join(parts) or condition.text


def _part(schema: Schema, part: Condition, word: str) -> str:
    text = titled_condition(schema, part)
    return f"({text})" if word == "not" or part.word == "or" else text


def _test(schema: Schema, test: Condition) -> str:
    if test.level:
        return test.text
    attribute = next(each for each in schema.tabular if each.name == test.attribute)
    name, values = attribute.title or attribute.name, [_value(attribute, value) for value in test.values]
    unit = f" {attribute.unit}" if attribute.unit and attribute.numbers is not None else ""
    if test.word == "missing":
        return f"{name} is missing"
    if test.word == "between":
        return f"{name} in {values[0]}..{values[1]}{unit}"
    return f"{name} in ({', '.join(values)}){unit}" if test.word == "in" else f"{name} {test.word} {values[0]}{unit}"


def _value(attribute: Tabular, text: str) -> str:
    """Return the label of a value where it has one."""
    code = attribute.code(text) if attribute.labelled else None
    return text if code is None else attribute.captions[code]
