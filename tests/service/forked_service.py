"""Starts the service in a forked child at every line that it reads, so that a restart takes no imports.

python forked_service.py DESIGN URL [hasty] [impatient] [unlimited] [few]

Prints the child's process id and port. A child ends when it is killed. With `hasty` the store acknowledges uploads
before they are committed: the fault that the tests must catch. With `impatient` a request must arrive, and an answer
be read, in two seconds. With `few` the process has 160 descriptors. With `unlimited` nothing is bounded: the fault that
the tests of attacks must catch.
"""

import os
import resource
import sys
import threading
import time
from pathlib import Path

from dpress.core.reports.packed import parse
from dpress.data.stored.store_url import open_store
from dpress.query.designs import load_design
from dpress.service import bounded_protocol, connection_places, server
from dpress.service.app import Settings, app
from dpress.service.served import Collections


class Hasty:
    """A store whose commits come a little later than its answers."""

    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)

    def add(self, uploads, refused):
        def later():
            time.sleep(0.05)
            self.store.add(uploads, refused)

        threading.Thread(target=later, daemon=True).start()
        return set()


def serve(design, url, *, hasty):
    """Serve until killed."""
    store = open_store(url, create=True)
    collections = Collections(Hasty(store) if hasty else store)
    collections.add(design)

    def listening(address):
        print(os.getpid(), address.rpartition(":")[2], flush=True)  # noqa: T201  # what the test reads

    server.run(app(collections.store, collections, Settings(url=url)), "127.0.0.1", 0, listening)


def main():
    """Fork a child for every line."""
    design, url, *mode = sys.argv[1:]
    loaded = load_design(Path(design))
    if "impatient" in mode:
        bounded_protocol.LONGEST = bounded_protocol.UNREAD = 2
    if "unlimited" in mode:
        for name in ("LONGEST", "UNREAD", "LARGEST_HEAD", "MOST_FIELDS", "MOST_PIPELINED"):
            setattr(bounded_protocol, name, 10**9)
        connection_places.MOST, server.most_connections = 10**9, lambda: 10**9
    if "few" in mode:
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
    parse(b"")
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            serve(loaded, url, hasty="hasty" in mode)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
