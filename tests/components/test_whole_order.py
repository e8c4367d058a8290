"""The order of stack prod: what creates things exists before what is created with it, and so is deleted after it.

`tests/bench/test_needs.py` holds every stack against a table of needs; here are the rules about storage, CRDs and
monitors, by the names of prod's own resources.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from slipway.render.recording import RecordedResource, Recording
from tests.bench.needed.charts import values_at
from tests.bench.needed.crds import bringing, is_custom
from tests.bench.needed.need import Index
from tests.bench.waits import closure, waits
from tests.support import stacks

RELEASE: Final = "kubernetes:helm.sh/v3:Release"
DRIVERS: Final[Mapping[str, str]] = {
    "ebs.csi.aws.com": "addons-late-ebs-csi",
    "efs.csi.aws.com": "addons-late-efs-csi",
    "fsx.csi.aws.com": "addons-late-fsx-csi",
    "s3.csi.aws.com": "addons-late-s3-csi",
}
CLASS_KEYS: Final = ("storageClassName", "defaultStorageClass", "storageClass")


def recorded() -> Recording:
    return stacks.recorded("prod")


@cache
def _before() -> Mapping[str, frozenset[str]]:
    return closure(waits(recorded()))


def before(later: RecordedResource) -> set[str]:
    """Names of what exists before a resource, by way of any number of others."""
    return {recorded().resources[urn].name for urn in _before()[later.urn]}


def _releases() -> Iterator[RecordedResource]:
    yield from recorded().of_type(RELEASE)


def test_releases_with_volumes_depend_on_class_and_driver() -> None:
    storing = [each for each in _releases() if any(values_at(each.inputs.plain.get("values"), CLASS_KEYS))]
    assert {each.name for each in storing} >= {"kube-prometheus-stack-release"}
    for each in storing:
        assert {"storage-class-block", DRIVERS["ebs.csi.aws.com"]} <= before(each), each.name


def test_volumes_depend_on_the_driver_that_mounts_them() -> None:
    volumes = recorded().of_type("kubernetes:core/v1:PersistentVolume")
    assert volumes
    for volume in volumes:
        assert DRIVERS[volume.inputs.plain["spec"]["csi"]["driver"]] in before(volume), volume.name


def test_claims_depend_on_every_driver() -> None:
    claims = recorded().of_type("kubernetes:core/v1:PersistentVolumeClaim")
    present = {name for name in DRIVERS.values() if any(each.name == name for each in recorded())}
    assert claims
    for claim in claims:
        assert present <= before(claim), claim.name


def test_custom_resources_depend_on_the_release_of_their_own_crd() -> None:
    index = Index(recorded())
    custom = [each for each in recorded() if is_custom(each)]
    assert custom
    for each in custom:
        own = {release.name for release in bringing(index, each)}
        assert own, f"nothing in the program brings the CRD of {each.name}"
        assert own <= before(each), each.name


def test_monitors_depend_on_their_crd_and_not_on_prometheus() -> None:
    monitored = [
        each
        for each in _releases()
        if not each.name.startswith("kube-prometheus-stack")
        for monitor in values_at(each.inputs.plain.get("values"), ("serviceMonitor",))
        if monitor.get("enabled")
    ]
    assert monitored
    for each in monitored:
        assert "kube-prometheus-stack-crds" in before(each), each.name
        assert "kube-prometheus-stack-release" not in before(each), each.name


def test_crds_do_not_depend_on_nodes() -> None:
    assert "pool-system-node-group" not in before(recorded().named("kube-prometheus-stack-crds"))
