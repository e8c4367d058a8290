"""Address ranges as sets of addresses, so that no spelling of a range escapes a rule."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Final, TypeVar

from policies.resources.access import Node, WrongTypeError

AnyNetwork = IPv4Network | IPv6Network
Family = TypeVar("Family", IPv4Network, IPv6Network)
_LONGEST_PREFIX: Final = {4: 8, 6: 16}
"""Bits. The largest block of one organisation is an IPv4 /8 (IANA, "IPv4 Address Space Registry", legacy blocks), and
IANA gives a /12 of IPv6 to a whole registry (IANA, "IPv6 Global Unicast Address Assignments"). A shorter prefix, or one
of IPv6 below 16 bits, is no network of anybody."""
_INTERNAL: Final = tuple(
    ip_network(text)
    for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fe80::/10")
)
"""RFC 1918, RFC 6598, RFC 4193, RFC 4291: addresses that the internet does not route."""


def parsed_range(node: Node) -> AnyNetwork | None:
    """A known CIDR range of either family, otherwise None.

    Raises:
        WrongTypeError: The text is not a range.
    """
    text = node.text()
    try:
        return ip_network(text, strict=False) if text is not None else None
    except ValueError as error:
        raise WrongTypeError(node, "a CIDR range") from error


def internet(nodes: Iterable[Node]) -> Iterator[Node]:
    """Ranges that alone or together with others of the list include so many public addresses that they are no network
    of anybody: `0.0.0.0/0`, any spelling of `::/0`, both halves of either, one half."""
    ranges = [(node, found) for node in nodes if (found := parsed_range(node)) is not None]
    public = [one for one in ranges if not any(_within(one[1], known) for known in _INTERNAL)]
    wide: list[AnyNetwork] = [
        *_wide(found for _, found in public if isinstance(found, IPv4Network)),
        *_wide(found for _, found in public if isinstance(found, IPv6Network)),
    ]
    yield from (node for node, found in public if any(_within(found, one) for one in wide))


def _wide(ranges: Iterable[Family]) -> Iterator[Family]:
    return (one for one in collapse_addresses(ranges) if one.prefixlen < _LONGEST_PREFIX[one.version])


def _within(one: AnyNetwork, other: AnyNetwork) -> bool:
    if isinstance(one, IPv4Network):
        return isinstance(other, IPv4Network) and one.subnet_of(other)
    return isinstance(other, IPv6Network) and one.subnet_of(other)
