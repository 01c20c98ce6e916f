"""Facts about the machine, for every benchmark's JSON."""

import importlib.metadata
import os
import platform
from pathlib import Path

PACKAGES = ("dpress", "numpy", "scipy", "cryptography", "opendp")


def cpu() -> str:
    """Return the processor's name as the kernel knows it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def version(package: str) -> str | None:
    """Return a package's version, None where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def facts(*more: str) -> dict[str, object]:
    """Return processor, cores, load and versions; `more` names further packages."""
    return {
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in (*PACKAGES, *more)},
    }
