"""The program that stores cases, for the tests that check it."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

MAKER = Path(__file__).with_name("make_formats.py")


@pytest.fixture(scope="session")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_formats", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_formats"] = module
    spec.loader.exec_module(module)
    return module
