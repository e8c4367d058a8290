"""Images of add-ons through the stack's pull-through caches. Pure.

Each chart names its images' registries in other values: its row in `spec.catalog.software` says where. An image whose
registry has a cache is pulled through it: nodes may pull from ECR without limits, and have a copy if the registry is
down. What ECR can't cache (`nvcr.io`, `icr.io`, `cr.fluentbit.io`) is pulled directly.

The alternative, mirrors in containerd's configuration, doesn't work with ECR: kubelet's credential provider chooses
credentials by the image's own name, so containerd would ask ECR for an image of `quay.io` without any (kubernetes.io,
"Configure a kubelet image credential provider", `matchImages`; read 2026-11).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from components.base.addon import AddOnContext
from components.base.outputs import ClusterOutputs
from components.storage.registry import UPSTREAMS
from spec.catalog import regions
from spec.catalog.software import ChartRef
from spec.settings.storage import Upstream

DOCKER_HUB: Final = "docker.io"  # registry of images that name none; its API is at `registry-1.docker.io`


def prefixes(cluster: ClusterOutputs, caches: Iterable[str]) -> dict[str, str]:
    """Prefix of cached images by registry.

    Args:
        cluster: The cluster, whose name is the prefix of the caches.
        caches: Registries with a cache, as in `storage.registry.caches`.
    """
    region = regions.get(cluster.region)
    host = f"{cluster.account_id}.dkr.ecr.{region.name}.{region.dns_suffix}"
    hosts = {each: DOCKER_HUB if each is Upstream.DOCKER_HUB else UPSTREAMS[each] for each in map(Upstream, caches)}
    return {hosts[each]: f"{host}/{cluster.owner}/{each}" for each in sorted(hosts)}


def through(context: AddOnContext) -> dict[str, str]:
    """Those of a stack."""
    return prefixes(context.cluster, context.caches)


def cached(name: str, through: Mapping[str, str]) -> str:
    """A registry, repository or image as it is pulled.

    Args:
        name: `quay.io`, `quay.io/a/b`, `a/b:1`.
        through: Prefixes of cached images by registry.
    """
    first, _, rest = name.partition("/")
    if not rest and ("." not in name or ":" in name):
        # Docker Hub's own images are in the namespace `library`.
        first, rest = DOCKER_HUB, f"library/{name}"
    elif rest and "." not in first and ":" not in first and first != "localhost":
        first, rest = DOCKER_HUB, name
    prefix = through.get(first)
    if prefix is None:
        return name
    return f"{prefix}/{rest}" if rest else prefix


def chart_values(chart: ChartRef, values: Mapping[str, Any], through: Mapping[str, str]) -> dict[str, Any]:
    """Values of a release whose images come through the caches; a value that is set already stays as it is.

    Args:
        chart: The chart.
        values: The release's values; those with the key `image` in lists of containers are images too.
        through: Prefixes of cached images by registry.
    """
    result = in_manifest(values, through)
    for path, default in chart.images.items():
        if cached(default, through) != default:
            _set(result, path.split("."), cached(default, through))
    return result


def in_manifest(manifest: Mapping[str, Any], through: Mapping[str, str]) -> dict[str, Any]:
    """A copy of a manifest, with the images of its containers through the caches."""
    return {key: _copied(value, through, listed=False) for key, value in manifest.items()}


def _copied(value: Any, through: Mapping[str, str], *, listed: bool) -> Any:
    """A copy; containers are items of lists with a name and an image."""
    if isinstance(value, Mapping):
        copy = {key: _copied(each, through, listed=False) for key, each in value.items()}
        if listed and "name" in copy and isinstance(copy.get("image"), str):
            copy["image"] = cached(copy["image"], through)
        return copy
    if isinstance(value, list | tuple):
        return [_copied(each, through, listed=True) for each in value]
    return value


def _set(values: dict[str, Any], path: list[str], value: str) -> None:
    *parents, last = path
    for key in parents:
        values = values.setdefault(key, {})
    values.setdefault(last, value)
