"""Images and where they come from: registry and repository, through the account's own caches as well."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from policies.resources.access import Node
from policies.rule import Context
from spec.catalog.regions import ACCOUNTS, CACHES, eks_registry

REFERENCE: Final = re.compile(r"^(?P<name>.+?)(:(?P<tag>[\w][\w.-]*))?(@(?P<digest>sha256:[0-9a-f]{64}))?$")
"""A reference to an image (distribution/reference, grammar)."""
_ECR: Final = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_HUB: Final = "docker.io"
_OF_EKS: Final = frozenset(map(eks_registry, ACCOUNTS))
OWN: Final = "own account"  # place of an image that the account's own registry has, and no cache of it
EKS: Final = str(eks_registry("us-west-2"))  # registry of EKS's own images, for those of all regions


def trusted(image: str, context: Context) -> bool:
    """Whether an image is of the account's own registry, of EKS, of a repository of the setting `repositories`, or one
    that the stack file names."""
    where, known = place(image, context.account), context.boundaries
    named = known is not None and any(image in one.images for one in known.extensions.values())
    allowed = context.settings["repositories"]
    of_owner = any(where.startswith(each) for each in allowed if each.endswith("/"))
    return named or of_owner or where == OWN or where in allowed or where.startswith(f"{EKS}/eks/")


def images(node: Node) -> Iterator[Node]:
    """Every known image that a property names, of a container or a volume, in whatever kind."""
    for key, below in node.fields().items() if isinstance(node.raw, Mapping) else ():
        named = below["reference"] if isinstance(below.raw, Mapping) else below
        if key == "image" and isinstance(named.raw, str):
            yield named
        yield from images(below)
    for one in node.items() if isinstance(node.raw, list) else ():
        yield from images(one)


def place(image: str, account: str) -> str:
    """Registry and repository of an image; of one that the account's own cache pulls, those of its upstream.

    Args:
        image: `vllm/vllm-openai:v0.24.0`. Where no host is named it is of Docker Hub (same grammar).
        account: The stack's account; any account where none is known.
    """
    match = REFERENCE.match(image)
    host, _, path = (match["name"] if match else image).partition("/")
    if not path or not any(letter in host for letter in ".:"):
        return f"{_HUB}/{host}/{path}" if path else f"{_HUB}/library/{host}"
    ecr = _ECR.fullmatch(host)
    if host in _OF_EKS:
        return f"{EKS}/{path}"
    if ecr is None or (account and ecr["account"] != account):
        return f"{host}/{path}"
    # <cluster>/<cache>/<repository of the upstream>
    cache, _, cached = path.partition("/")[2].partition("/")
    upstream = CACHES.get(cache)
    return f"{_HUB if upstream == 'registry-1.docker.io' else upstream}/{cached}" if upstream else OWN
