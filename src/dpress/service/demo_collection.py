"""A collection to look at: a service with a store that is gone afterwards, and made-up devices that send to it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from dpress.data.specification.spec import load_spec
from dpress.data.stored.store_url import open_store
from dpress.document.design import Design
from dpress.query.designs import save_design
from dpress.release.plan.plan import design_of
from dpress.service.app import Settings, app
from dpress.service.served import Collections
from dpress.service.server import at_signals, run

SPEC = """\
[[attribute]]
name = "age"
title = "Age"
kind = "integer"
bounds = [0, 84]
bins = 17

[[attribute]]
name = "education"
title = "Education"
kind = "ordinal"
values = ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]

[[attribute]]
name = "region"
title = "Region"
kind = "categorical"
values = ["North", "East", "South", "West"]

[privacy]
model = "local"
epsilon = 1.0

[release]
kind = "marginals"
title = "Who lives here"
"""
HOST = "127.0.0.1"


def collect(watch: Callable[[str], object]) -> None:
    """Serve until SIGTERM or SIGINT, with devices in a process of their own; nothing is left behind.

    Args:
        watch: called with the address of the page, once it can be looked at.

    Raises:
        OSError: no port is free, or there is no place for the store.
    """
    with at_signals(_end), TemporaryDirectory(prefix="dpress-demo-") as folder:
        _serve(Path(folder), watch)


def _end() -> None:
    """End the process with exit code 0, also before the server listens and after it has stopped."""
    raise SystemExit(0)


def _serve(folder: Path, watch: Callable[[str], object]) -> None:
    (folder / "spec.toml").write_text(SPEC, encoding="utf-8")
    design = design_of(load_spec(folder / "spec.toml"))
    url = f"sqlite:///{folder / 'reports.db'}"
    store = open_store(url, create=True)
    collections = Collections(store)
    collections.add(design)
    children: list[subprocess.Popen[bytes]] = []

    def listening(address: str) -> None:
        children.append(_devices(design, folder, address))
        watch(f"{address}/collections/{design.id}")

    try:
        run(app(store, collections, Settings(url=url, public=True)), HOST, 0, listening)
    finally:
        for child in children:
            child.terminate()
            child.wait()


def _devices(design: Design, folder: Path, address: str) -> subprocess.Popen[bytes]:
    """Start the devices; they end when this process does, whichever way: then their standard input closes."""
    path = save_design(design, folder / "design.json")
    command = [sys.executable, "-m", "dpress.service.demo_devices", str(path), f"{address}/v1/collections/{design.id}"]
    return subprocess.Popen(  # noqa: S603  # our own module
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for this process alone, which ends that one
    )
