"""A specification or a design, whichever a file holds."""

from pathlib import Path

from dpress.data.specification.spec import Spec, load_spec
from dpress.document.design import Design
from dpress.query.designs import load_design


def load_spec_or_design(path: str | Path) -> Spec | Design:
    """Read a specification (TOML) or a design (JSON).

    Raises:
        OSError: the file cannot be read; of a design that is not there the message says what makes it.
        SchemaMismatch: it is neither; the message names the place of the fault.
    """
    try:
        with Path(path).open("rb") as file:
            start = file.read(64).lstrip()
    except FileNotFoundError as error:
        if Path(path).suffix != ".json":
            raise
        made = f"{error.strerror}; `dpress plan SPEC --out {path}` makes a design"
        raise FileNotFoundError(error.errno, made, error.filename) from None
    return load_design(path) if start.startswith(b"{") else load_spec(path)
