"""The specification and the rows of the tests of releases."""

from tests.release.conftest import make_spec, rows

__all__ = ["make_spec", "rows"]
