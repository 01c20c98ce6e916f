"""The documents' scripts as modules, as they import one another."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

PAPERS = Path(__file__).parents[2] / "papers"


@pytest.fixture(scope="session")
def papers() -> Iterator[Callable[[str], ModuleType]]:
    """Import a script by its name."""
    sys.path.insert(0, str(PAPERS))
    yield importlib.import_module
    sys.path.remove(str(PAPERS))
