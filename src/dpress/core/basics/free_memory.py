"""How many bytes of memory a process may still take, and the refusal of what would need more: before anything is paid.

the system's figure, the limits of control groups and of the process -> the least of them.
"""

import contextlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path

from dpress.core.basics.errors import NotSupported

MEGABYTE = 10**6
GROUPS = Path("/sys/fs/cgroup")
UNLIMITED = 1 << 60  # what version 1 of control groups writes where there is no limit is near 2^63


def bytes_there() -> int | None:
    """Return how many bytes this process may still take; None where the system does not say.

    On Linux the least of what is available, of what every control group above the process leaves (a container's
    limit), and of its address space (`ulimit -v`); elsewhere what the machine has.
    """
    figures = [*_available(), *_of_groups(), *_address_space()]
    return max(0, min(figures)) if figures else None


def check_memory(needed: int, what: str, smaller: str) -> None:
    """Refuse what needs more memory than there is.

    Args:
        needed: bytes.
        what: needs them, as the beginning of a sentence.
        smaller: what would need less, as its end.

    Raises:
        NotSupported: there is less; with both figures.
    """
    free = bytes_there()
    if free is not None and needed > free:
        figures = f"about {needed / MEGABYTE:,.0f} MB of memory, and {free / MEGABYTE:,.0f} MB are free"
        raise NotSupported(f"{what} takes {figures}; {smaller}")


def _available() -> Iterator[int]:
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        yield next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        return
    with contextlib.suppress(AttributeError, ValueError, OSError):  # Windows has no sysconf
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_groups() -> Iterator[int]:
    """Yield what the control groups of the process leave, of version 2 and of version 1."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:
                yield from _left(GROUPS, path, "memory.max", "memory.current", "inactive_file")
            elif "memory" in controllers.split(","):
                names = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
                yield from _left(GROUPS / "memory", path, *names)


def _left(root: Path, path: str, limit: str, usage: str, cached: str) -> Iterator[int]:
    """Yield what a group and those above it leave; pages of files that can be dropped are free."""
    group = root / path.lstrip("/")
    for folder in (group, *group.parents):
        if not folder.is_relative_to(root):
            return
        with contextlib.suppress(OSError, ValueError, StopIteration):
            most = int((folder / limit).read_text(encoding="ascii"))  # "max" where there is none
            lines = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
            droppable = next(int(line.split()[1]) for line in lines if line.split()[0] == cached)
            if most < UNLIMITED:
                yield most - int((folder / usage).read_text(encoding="ascii")) + droppable


def _address_space() -> Iterator[int]:
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows has no such limit
        resource = importlib.import_module("resource")
        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        if most != resource.RLIM_INFINITY:
            yield most - pages * resource.getpagesize()
