"""A specification or a design, whichever a file holds."""

from pathlib import Path

from dpress.data.specification.spec import Spec, load_spec
from dpress.document.design import Design
from dpress.query.designs import load_design


def load_spec_or_design(path: str | Path) -> Spec | Design:
    """Read a specification (TOML) or a design (JSON).

    Raises:
        OSError: the file cannot be read.
        SchemaMismatch: it is neither; the message names the place of the fault.
    """
    with Path(path).open("rb") as file:
        start = file.read(64).lstrip()
    return load_design(path) if start.startswith(b"{") else load_spec(path)
