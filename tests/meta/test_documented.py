"""Whatever a user can type or write has its line in the reference."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest

import dpress
from dpress import catalog
from dpress.attributes.attribute import Attribute
from dpress.attributes.dates.attribute import Date, DateTime
from dpress.attributes.listed.attribute import Categorical
from dpress.attributes.location.attribute import Location
from dpress.attributes.named import Named
from dpress.attributes.numbers.attribute import Integer, Numeric
from dpress.cli.main import COMMANDS, SUMMARIES, cli
from dpress.data.specification.constraint import Constraint
from dpress.data.specification.linked_table import LinkedTable
from dpress.data.specification.spec import Spec
from dpress.data.specification.spec_parts import Collection, Data, Periods, Privacy, Release

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
SECTIONS = {
    "## `[data]`": Data,
    '### `kind = "categorical"` and `kind = "ordinal"`': Categorical,
    '### `kind = "integer"`': Integer,
    '### `kind = "numeric"`': Numeric,
    '### `kind = "date"`': Date,
    '### `kind = "datetime"`': DateTime,
    '### `kind = "location"`': Location,
    "## `[[constraint]]`": Constraint,
    "## `[[table]]`": LinkedTable,
    "## `[privacy]`": Privacy,
    "## `[release]`": Release,
    "### `[collection]`": Collection,
    "### `[periods]`": Periods,
}


def sections(page: str) -> dict[str, str]:
    """Return the text below every heading of a page, up to the next heading."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    parts = re.split(r"^(#+ .+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = importlib.import_module(f"dpress.cli.{name}").command
        if isinstance(command, click.Group):
            yield from ((f"{name} {part}", own) for part, own in command.commands.items())
        else:
            yield name, command


def heading(name: str, command: click.Command) -> str:
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    words = " ".join(one.make_metavar(click.Context(command)) for one in arguments)
    return f"## `dpress {name}{' ' if words else ''}{words}`"


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_option_stands_in_the_section_of_its_command(name: str, command: click.Command) -> None:
    text = sections("cli.md").get(heading(name, command), "")
    options = {flag for one in command.params if isinstance(one, click.Option) for flag in one.opts}
    assert options
    assert {flag for flag in options if f"`{flag}" not in text} == set()
    assert set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE)) == options


def test_the_page_has_no_command_that_is_gone() -> None:
    found = {line for line in sections("cli.md") if line.startswith("## `dpress")}
    assert found == {heading(name, command) for name, command in commands()}


def test_every_command_takes_json_and_has_a_summary() -> None:
    assert set(SUMMARIES) == set(COMMANDS)
    for name, command in commands():
        assert any("--json" in one.opts for one in command.params), name


def test_the_options_of_the_program_itself_are_documented() -> None:
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    own = [flag for one in cli.get_params(click.Context(cli, help_option_names=["-h", "--help"])) for flag in one.opts]
    assert own
    assert [flag for flag in own if flag not in text] == []


def test_every_public_name_is_in_the_python_reference() -> None:
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    values = {"ROW", "__version__"}  # no class and no function: a sentence each
    assert [name for name in sorted(values) if f"`dpress.{name}`" not in text] == []
    names = [name for name in dpress.__all__ if name not in values]
    assert [name for name in names if f"::: dpress.{name}" not in lines] == []


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"| `dpress {name}" not in readme] == []


def methods() -> dict[str, str]:
    """The sections of both pages of methods, a curator's and devices'."""
    return {**sections("methods.md"), **sections("device-methods.md")}


def test_every_method_has_a_section_and_no_section_is_left_over() -> None:
    found = [line.removeprefix("## ") for line in methods() if re.fullmatch(r"## [a-z_0-9]+", line)]
    assert sorted(found) == sorted(catalog.cards())


def test_every_method_states_claim_error_and_paper() -> None:
    texts = {name: methods()[f"## {name}"] for name in sorted(catalog.cards())}
    missing = [
        (name, word) for name, text in texts.items() for word in ("Claim", "Error", "Paper") if f"**{word}" not in text
    ]
    assert missing == []


@pytest.mark.parametrize(("title", "struct"), list(SECTIONS.items()))
def test_every_field_of_the_spec_has_its_line(title: str, struct: type[msgspec.Struct]) -> None:
    shared = {field.name for field in msgspec.structs.fields(Named)} if issubclass(struct, Named) else set()
    fields = {field.encode_name for field in msgspec.structs.fields(struct)} - shared
    pages = {**sections("linked-tables.md"), **sections("spec.md")}
    assert set(re.findall(r"^\| `([a-z_]+)` \|", pages[title], re.MULTILINE)) == fields


def test_what_every_attribute_has_is_in_the_section_of_all() -> None:
    fields = {field.name for field in msgspec.structs.fields(Named)} | {"kind"}
    assert set(re.findall(r"^\| `([a-z_]+)` \|", sections("spec.md")["## `[[attribute]]`"], re.MULTILINE)) == fields


def test_every_section_and_kind_of_the_spec_is_on_the_page() -> None:
    text = (REFERENCE / "spec.md").read_text(encoding="utf-8")
    names = [field.encode_name for field in msgspec.structs.fields(Spec)]
    assert [name for name in names if f"`[{name}]`" not in text and f"`[[{name}]]`" not in text] == []
    kinds = {str(kind.__struct_config__.tag) for kind in get_args(Attribute)}
    assert "numeric" in kinds
    assert [kind for kind in kinds if f'"{kind}"' not in text] == []


def test_the_meta_check_would_see_a_missing_field() -> None:
    lines = re.findall(r"^\| `([a-z_]+)` \|", sections("spec.md")["## `[privacy]`"], re.MULTILINE)
    assert "epsilon" in lines
    assert "epsilom" not in lines
