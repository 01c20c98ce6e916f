"""A fault of a specification is told with the line and the column of its field."""

import pytest

from dpress import load_spec
from dpress.core.basics.errors import SchemaMismatch

TEXT = """\
# a comment, [not.a.section]
[[attribute]]
name = "age"
kind = "integer"
bounds = [0, 9]

[[attribute]]
name = "work"
kind = "categorical"
values = [
    "a",  # one ]
    "b",
]
  other = "else"

[privacy]
epsilon = 1.0
[release]
kind = "marginals"
parameters = { ways = 2 }
"""


def fault(old, new):
    assert old in TEXT
    with pytest.raises(SchemaMismatch) as caught:
        load_spec(TEXT.replace(old, new))
    return str(caught.value).removeprefix("the specification: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "epsilon = 1.0",
            "epsilon = -1",
            "$.privacy.epsilon: expected a number > 0, got -1 (at line 17, column 1)",
        ),
        (
            "bounds = [0, 9]",
            'bounds = [0, "x"]',
            "$.attribute[age].bounds[#2]: expected an integer, got 'x' (at line 5",
        ),
        ('"else"', "3", "$.attribute[work].other: expected a string, got 3 (at line 14, column 3)"),
        ('"b",', "1.5,", "$.attribute[work].values[#2]: expected true or false or an integer or a string, got 1.5 (at"),
        ("epsilon = 1.0", "epsilon = 1.0\nbudgit = 1", "$.privacy: unknown field `budgit`; the fields are "),
        ('kind = "integer"', "", "$.attribute[age]: the field `kind` is missing (at line 2, column 1)"),
        ('name = "age"', "", "$.attribute[#1]: the field `name` is missing (at line 2, column 1)"),
        ('name = "work"', "", "$.attribute[#2]: the field `name` is missing (at line 7, column 1)"),
        ("bounds = [0, 9]", "bounds = [9, 0]", "$.attribute[age]: `bounds` are [low, high], -2^53 < low <= high"),
        (
            'kind = "marginals"',
            'kind = "marginals"\nattributes = ["Age"]',
            (
                "$.release.attributes: there is no attribute 'Age'; the attributes are age, work; did you mean 'age'? "
                "(at line 20, column 1)"
            ),
        ),
        ('kind = "integer"', 'kind = "interger"', "got 'interger'; did you mean 'integer'? (at line 4, column 1)"),
        (
            'kind = "marginals"',
            'kind = "marginals"\nattributes = [age]',
            'not a TOML file: Invalid value (at line 20, column 15); did you mean "age"? A text stands in quotes',
        ),
    ],
)
def test_a_fault_has_its_line(old, new, message):
    assert message in fault(old, new)


def test_a_file_is_named_first(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_text(TEXT.replace("1.0", "0"))
    with pytest.raises(SchemaMismatch) as caught:
        load_spec(path)
    assert str(caught.value) == f"{path}: $.privacy.epsilon: expected a number > 0, got 0 (at line 17, column 1)"


def test_plain_objects_have_no_lines():
    with pytest.raises(SchemaMismatch, match=r"^\$\.attribute\[#1\]: the field `name` is missing$"):
        load_spec({"attribute": [{"kind": "integer", "bounds": [0, 1]}], "privacy": {}, "release": {}})


@pytest.mark.parametrize("many", ["values = [\n" + '["a"],\n' * 30_000 + "]", "values = [\n" + '"a",\n' * 30_000 + "]"])
def test_a_long_list_is_given_up_rather_than_read_again_and_again(many, monkeypatch):
    """Steps, not seconds: what is read of one statement is bounded."""
    import tomllib

    from dpress.data.specification import spec_lines

    real, read = tomllib.loads, []
    monkeypatch.setattr(spec_lines.tomllib, "loads", lambda text: (read.append(1), real(text))[1])
    spec_lines.located("$.privacy.epsilon: wrong", f"{many}\n[privacy]\nepsilon = 1\n")
    assert len(read) <= 2 * spec_lines.MOST
