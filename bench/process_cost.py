"""What a process takes: seconds of CPU, and its largest memory.

A small process starts it, for the system counts what a process held to those that it starts.
"""

import json
import subprocess
import sys
from collections.abc import Sequence

STARTER = """
import json, os, sys
child = os.fork()
if not child:
    os.execv(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(child, 0)
took = {"seconds": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss / 1024}
print("\\n" + json.dumps(took | {"code": os.waitstatus_to_exitcode(status)}))
"""


def cost(command: Sequence[str]) -> dict[str, float]:
    """Return seconds of CPU and the largest memory, in MB, of a process.

    Raises:
        RuntimeError: it failed; the message is what it said last.
    """
    words = [sys.executable, "-S", "-E", "-c", STARTER, *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    took: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if code := took.pop("code"):
        raise RuntimeError((done.stderr.strip().splitlines() or [f"ended with {code:.0f}"])[-1])
    return took
