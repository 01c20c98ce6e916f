"""What `pip install dpress` puts on a disk."""

from importlib.metadata import distribution

from packaging.requirements import Requirement

LARGEST = 350e6  # bytes, without the byte-code that pip compiles


def installed(name: str, found: dict[str, int]) -> dict[str, int]:
    """Return the bytes of a distribution and of all that it requires without extras, by name."""
    if name not in found:
        own = distribution(name)
        files = (own.locate_file(file) for file in own.files or () if file.suffix != ".pyc")
        found[name] = sum(file.stat().st_size for file in files if file.is_file())
        for text in own.requires or ():
            required = Requirement(text)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                installed(required.name, found)
    return found


def test_a_base_install_is_small_and_numba_alone_would_be_too_much():
    sizes = installed("dpress", {})
    assert {"numpy", "pyarrow", "duckdb", "cryptography"} <= sizes.keys()
    assert {"numba", "scipy"} & sizes.keys() == set()
    assert sum(sizes.values()) < LARGEST
    assert sum(installed("numba", sizes).values()) > LARGEST
