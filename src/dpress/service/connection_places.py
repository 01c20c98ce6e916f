"""Which connection gives way where there are too many: fair between addresses, which are kept no longer than they are.

Behind a proxy every connection comes from the proxy's address; then the one that has waited longest gives way.
"""

from collections import defaultdict
from collections.abc import Hashable
from ipaddress import IPv6Address
from typing import Any

MOST = 1024  # connections at a time
SHARE = 2  # one in so many descriptors is a connection, the others are for bursts, files and the store
PREFIX = 8  # bytes of an IPv6 address that tell one network from another


class Places:
    """All connections of a server, by address, those first that have waited longest for a whole request.

    Args:
        most: connections at a time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._by_network: dict[Hashable, dict[Any, None]] = defaultdict(dict)
        self._networks: dict[Any, Hashable] = {}

    def add(self, connection: Any, address: tuple[str, int] | None) -> Any:
        """Take a connection in; return the one that must give way for it, or None.

        That is one of the address with the most connections, and of these the one that has waited longest.
        """
        subnet = network(address)
        self._networks[connection] = subnet
        self._by_network[subnet][connection] = None
        if len(self._networks) <= self.most:
            return None
        largest = max(self._by_network, key=lambda subnet: len(self._by_network[subnet]))
        driven_out = next(iter(self._by_network[largest]))
        self.remove(driven_out)
        return driven_out

    def heard(self, connection: Any) -> None:
        """Note that a connection gave a whole request; it gives way after those that have not since."""
        if connection in self._networks:
            connections = self._by_network[self._networks[connection]]
            connections[connection] = connections.pop(connection)

    def remove(self, connection: Any) -> None:
        """Forget a connection, and its address with the last one."""
        if connection in self._networks:
            subnet = self._networks.pop(connection)
            del self._by_network[subnet][connection]
            if not self._by_network[subnet]:
                del self._by_network[subnet]


def network(address: tuple[str, int] | None) -> Hashable:
    """Return what counts as one address: of IPv6 the half that a network is given.

    >>> network(("2001:db8::1", 443)) == network(("2001:db8::2", 80)), network(("127.0.0.1", 80))
    (True, '127.0.0.1')
    """
    host = "" if address is None else address[0].partition("%")[0]
    if ":" not in host:
        return host
    whole = IPv6Address(host)
    return str(whole.ipv4_mapped) if whole.ipv4_mapped else whole.packed[:PREFIX]


def most_connections() -> int:
    """Return how many connections this process has descriptors for, after asking for more where it may."""
    try:
        import resource  # noqa: PLC0415  # not on Windows, where no process has a limit of its own
    except ImportError:
        return MOST
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = SHARE * MOST
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST if soft == resource.RLIM_INFINITY else max(1, min(MOST, soft // SHARE))
