"""Publish rows on a cluster, by the command line and from a DataFrame: python on_cluster.py ADDRESS WITHOUT CASE...

The working folder has `rows`, a folder of Parquet files, and `spec.toml`, which spends so much that no noise is left.
WITHOUT is a Python without dpress. Prints by case the counts, or the code that the command ends with.
"""

import contextlib
import io
import json
import sys
from functools import partial
from pathlib import Path

import dpress
from dpress.cli.main import main
from dpress.data.sources import spark_address
from dpress.data.sources.spark_session import active_session, quiet

SPEC = "spec.toml"


def by_command(address, data, out):
    """Return what the command publishes, or the code that it ends with."""
    words = ["publish", SPEC, "--data", data, "--out", out, "--engine", "spark", "--spark", address, "--quiet"]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main(words)
        except SystemExit as end:
            if end.code:
                return end.code
    return dpress.load_release(out).kept.tolist()


def of_frame(out):
    """Return what is published of a DataFrame of the session."""
    with quiet():
        frame = active_session().read.parquet(str(Path("rows").absolute()))
    return dpress.publish(dpress.load_spec(SPEC), frame, out=out).kept.tolist()


def executors_run(python):
    """Let the executors run a Python; a server of Spark Connect has its own."""
    if hasattr(session := active_session(), "_sc"):
        session._sc.pythonExec = python  # pyspark sets it once


def main_of_script():
    """Run the cases, and print."""
    address, without, *cases = sys.argv[1:]
    spark_address.use(address)
    publish = partial(by_command, address)
    work = {
        "files": lambda: publish("rows", "files"),
        "no dpress": lambda: publish("rows", "none"),
        "a frame without dpress": lambda: of_frame("frame"),
        "unseen": lambda: publish("/proc/self/cwd/rows", "unseen"),
        "no python": lambda: publish("rows", "nothing"),
    }
    pythons = {"no dpress": without, "a frame without dpress": without, "no python": f"{without}-that-is-not-there"}
    results = {}
    for case in cases:
        executors_run(pythons.get(case, sys.executable))
        results[case] = work[case]()
    sys.stdout.write(json.dumps(results))
    active_session().stop()


if __name__ == "__main__":
    main_of_script()
