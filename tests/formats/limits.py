"""What a reader or a planner may use whatever it is given: steps, which are counted instead of seconds, and memory."""

import contextlib
import resource
import sys


class TooManyStepsError(BaseException):
    """No reader and no planner may catch it."""


@contextlib.contextmanager
def steps(limit, what):
    """Raise TooManyStepsError, naming what was given, in the midst of what calls more functions than the limit."""
    seen = 0

    def count(_frame, event, _argument):
        nonlocal seen
        seen += event in ("call", "c_call")
        if seen > limit:
            sys.setprofile(None)
            raise TooManyStepsError(what)

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextlib.contextmanager
def memory(limit):
    """Fail where the process comes to hold so many bytes more than it ever did."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < limit
