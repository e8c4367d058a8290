"""Dependencies in stack prod: controllers and drivers are created before what uses them, and deleted after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from slipway.render.recording import RecordedResource, Recording
from tests.bench.waits import waits
from tests.support import stacks

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
DRIVERS: Final[Mapping[str, str]] = {
    "ebs.csi.aws.com": "addons-late-ebs-csi",
    "efs.csi.aws.com": "addons-late-efs-csi",
    "fsx.csi.aws.com": "addons-late-fsx-csi",
    "s3.csi.aws.com": "addons-late-s3-csi",
}
BUILT_IN: Final = ("", "apps", "batch", "policy", "autoscaling")
"""API groups that every API server has, besides those that end in `k8s.io`."""
CLASS_KEYS: Final = ("storageClassName", "defaultStorageClass", "storageClass")


def recorded() -> Recording:
    return stacks.recorded("prod")


@cache
def _before() -> Mapping[str, frozenset[str]]:
    """For each resource, everything that it depends on, directly or indirectly."""
    direct, indirect = waits(recorded()), {}

    def all_of(urn: str) -> frozenset[str]:
        if urn not in indirect:
            indirect[urn] = direct[urn].union(*(all_of(other) for other in direct[urn]))
        return indirect[urn]

    return {urn: all_of(urn) for urn in direct}


def before(later: RecordedResource) -> set[str]:
    """Names of everything that a resource depends on."""
    return {recorded().resources[urn].name for urn in _before()[later.urn]}


def _values_at(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from (inner_value for key, inner_value in value.items() if key in keys and inner_value)
        for inner in value.values():
            yield from _values_at(inner, keys)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _values_at(inner, keys)


def _releases() -> Iterator[RecordedResource]:
    yield from recorded().of_type(RELEASE)


def test_releases_with_volumes_depend_on_class_and_driver() -> None:
    storing = [resource for resource in _releases() if any(_values_at(resource.inputs.plain.get("values"), CLASS_KEYS))]
    assert {release.name for release in storing} >= {"kube-prometheus-stack-release"}
    for release in storing:
        assert {"storage-class-block", DRIVERS["ebs.csi.aws.com"]} <= before(release), release.name


def test_volumes_depend_on_the_driver_that_mounts_them() -> None:
    volumes = recorded().of_type("kubernetes:core/v1:PersistentVolume")
    assert volumes
    for volume in volumes:
        assert DRIVERS[volume.inputs.plain["spec"]["csi"]["driver"]] in before(volume), volume.name


def test_claims_depend_on_every_driver() -> None:
    claims = recorded().of_type("kubernetes:core/v1:PersistentVolumeClaim")
    present = {name for name in DRIVERS.values() if any(resource.name == name for resource in recorded())}
    assert claims
    for claim in claims:
        assert present <= before(claim), claim.name


def test_custom_resources_depend_on_a_release() -> None:
    releases = {resource.name for resource in _releases()}
    own = [resource for resource in recorded() if _is_custom(resource)]
    assert own
    for resource in own:
        assert releases & before(resource), resource.name


def _is_custom(resource: RecordedResource) -> bool:
    group = str(resource.inputs.plain.get("apiVersion", "")).rpartition("/")[0]
    return resource.type.startswith("kubernetes:") and group not in BUILT_IN and not group.endswith(".k8s.io")


def test_monitors_depend_on_their_crd_and_not_on_prometheus() -> None:
    monitored = [
        resource
        for resource in _releases()
        if not resource.name.startswith("kube-prometheus-stack")
        for monitor in _values_at(resource.inputs.plain.get("values"), ("serviceMonitor",))
        if monitor.get("enabled")
    ]
    assert monitored
    for release in monitored:
        assert "kube-prometheus-stack-crds" in before(release), release.name
        assert "kube-prometheus-stack-release" not in before(release), release.name


def test_crds_do_not_depend_on_nodes() -> None:
    recording = recorded().named("kube-prometheus-stack-crds")
    assert "pool-system-node-group" not in before(recording)
