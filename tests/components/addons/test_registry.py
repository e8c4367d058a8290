"""Every add-on of the stack file exists once and has a page."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import pulumi
import pulumi_aws as aws
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_kubernetes.helm.v3 import Release

from components.addons import install, registry
from components.addons.demand import NOTHING, Demand, of_values
from components.addons.registry import REGISTRY, before, sequence, wanted
from components.base.addon import AddOn, ChartRelease, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.kubernetes import declare
from slipway.render.program import record_platform
from spec.pools import keys
from spec.settings import load, read_stack
from spec.settings.addons import Addons, AddonSettings
from tests.components.addons.fakes import CHART, addon, config_map, settings
from tests.support.cases import beside
from tests.support.context import addon_context
from tests.support.mocks import Recording, Registered, providers, run
from tests.support.stacks import FOLDER, NAMES, recorded

CASES: Final = beside(__file__)

ROOT: Final = Path(__file__).parents[3]
KINDS: Final = {
    str(field.alias): next(kind for kind in get_args(field.annotation) if kind is not type(None))
    for field in Addons.model_fields.values()
}
"""Settings of every add-on by its key in the stack file."""


def kebab(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", key).lower()


def test_settings_keys_and_add_ons_correspond() -> None:
    assert set(REGISTRY) == set(KINDS.values()), "components/addons has each one's component"
    assert len(set(KINDS.values())) == len(KINDS)


@pytest.mark.parametrize("key", KINDS)
def test_an_add_on_has_its_keys_name_and_a_page(key: str) -> None:
    addon = REGISTRY[KINDS[key]]
    assert issubclass(addon, AddOn)
    assert addon.name == kebab(key)
    page = ROOT / "docs" / "addons" / f"{addon.name}.md"
    assert page.is_file(), f"{page.relative_to(ROOT)} is missing"
    headings = {line.removeprefix("## ") for line in page.read_text().splitlines() if line.startswith("## ")}
    assert {"Settings", "Cost", "Verification", "Troubleshooting"} <= headings


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(addon.name for addon in REGISTRY.values()).items() if count > 1] == []


def test_relations_refer_to_existing_add_ons() -> None:
    for kind in REGISTRY:
        for others in (kind.requires, kind.follows, kind.excludes):
            assert set(others) <= set(REGISTRY), kind


def test_no_add_on_excludes_a_required_one() -> None:
    for kind in REGISTRY:
        assert not set(kind.excludes) & {*kind.requires, *kind.follows}, kind


def test_every_valid_set_has_an_order() -> None:
    """No set of enabled add-ons has a cycle: the largest sets without exclusions have an order."""
    free: dict[str, type[AddonSettings]] = {}
    for key, kind in KINDS.items():
        if not any(other in free.values() for other in kind.excludes) and not any(
            kind in other.excludes for other in free.values()
        ):
            free[key] = kind
    complete = {key: kind for key, kind in free.items() if set(kind.requires) <= set(free.values())}
    assert sequence(complete)


def test_only_add_ons_of_the_stack_file_are_enabled() -> None:
    assert wanted(Addons()) == {}
    assert list(wanted(Addons.model_validate_json('{"gpuOperator": {}}'))) == ["gpu-operator"]


Base = settings("Base")
Needing = settings("Needing", requires=(Base,))
Using = settings("Using", follows=(Base,))
Rival = settings("Rival", excludes=(Base,))


def test_required_and_followed_add_ons_come_before() -> None:
    assert before({"a": Needing, "b": Using, "z": Base}) == {"a": ("z",), "b": ("z",), "z": ()}
    assert sequence({"a": Needing, "b": Using, "z": Base})[0] == "z"


def test_a_followed_add_on_may_be_disabled() -> None:
    assert before({"b": Using}) == {"b": ()}


def test_a_missing_requirement_names_both() -> None:
    with pytest.raises(ValueError, match=r"needing requires Base, which is not enabled"):
        before({"needing": Needing})


def test_a_conflict_names_both() -> None:
    with pytest.raises(ValueError, match=r"rival and base exclude each other"):
        before({"rival": Rival, "base": Base})


def test_a_cycle_names_its_path() -> None:
    first: Any = settings("First")
    second: Any = settings("Second", requires=(first,))
    first.follows = (second,)
    with pytest.raises(ValueError, match=r"depend on each other in a cycle: (one -> two -> one|two -> one -> two)"):
        sequence({"one": first, "two": second})


@given(st.permutations(["a", "b", "y", "z"]))
def test_the_order_in_the_stack_file_is_irrelevant(names: list[str]) -> None:
    kinds = {"a": Needing, "b": Using, "y": settings("Other"), "z": Base}
    assert sequence({name: kinds[name] for name in names}) == sequence(kinds)


# Add-ons as resources, and their dependencies on one another.


CONFIG_MAP: Final = "kubernetes:core/v1:ConfigMap"
READ: Final = document(Statement("Read", ["s3:GetObject"], ["*"]))
WHOLE: Final = Parts(
    permissions=[Permissions(service_account="controller", policy=Inline(document=READ))],
    before={"config": config_map("config")},
    releases=[
        ChartRelease(ref=CHART, release_name="one-crds", values={}, crds_only=True),
        ChartRelease(ref=CHART, release_name="base", values={}),
        ChartRelease(ref=CHART, release_name="one", values={"replicas": 2}, skip_crds=True, volumes=True),
    ],
    objects={"b": config_map("b"), "a": config_map("a")},
)
One = settings("One")
Two = settings("Two", requires=(One,))
Follower = settings("Follower", follows=(One,))


def installed(monkeypatch: pytest.MonkeyPatch, *addons: AddOn[Any]) -> Recording:
    """The resources of these add-ons; `returned` are the URNs in `ready` of each."""
    monkeypatch.setattr(registry, "wanted", lambda *_: {addon.name: addon for addon in addons})

    def build() -> dict[str, Any]:
        opts = pulumi.ResourceOptions(providers=providers())
        context = addon_context(opts)
        stores = config_map("class")
        storage = replace(context.storage, block=[declare("class", stores, opts)])
        result = install.install(replace(context, storage=storage), opts)
        return {addon.name: [each.urn for each in result.of(type(addon.settings))] for addon in addons}

    return run(build)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Recording:
    return installed(monkeypatch, addon(One, "one", WHOLE))


def of(recording: Recording, name: str) -> Registered:
    return next(resource for resource in recording if resource.name == name and resource.custom)


def test_every_release_is_atomic(whole: Recording) -> None:
    for resource in whole.of(Release).values():
        assert (resource.inputs["atomic"], resource.inputs["cleanupOnFail"]) == (True, True)
        assert resource.inputs["timeout"] == 600
        assert resource.inputs["namespace"] == "one-system"


def test_only_in_cluster_resources_are_deleted_with_the_cluster(whole: Recording) -> None:
    cluster = whole.one(aws.eks.Cluster).urn
    inside = {resource.name for resource in whole if resource.deleted_with == cluster}
    releases = {"one-crds", "one-base", "one-release"}
    assert inside == {"namespaces-one-system", "one-config", *releases, "one-a", "one-b"}


@pytest.mark.parametrize(("later", "earlier"), CASES["parts of an add on depend on earlier parts"])
def test_parts_of_an_add_on_depend_on_earlier_parts(whole: Recording, later: str, earlier: str) -> None:
    assert whole.waits(of(whole, later), of(whole, earlier))


@pytest.mark.parametrize("needless", ["system-node-group", "one-config", "one-controller-policy", "class"])
def test_crds_depend_only_on_their_namespace(whole: Recording, needless: str) -> None:
    assert not whole.waits(of(whole, "one-crds"), of(whole, needless))


def test_only_releases_with_volumes_depend_on_class_and_driver(whole: Recording) -> None:
    assert not whole.waits(of(whole, "one-base"), of(whole, "class"))


def test_objects_do_not_depend_on_each_other(whole: Recording) -> None:
    assert not whole.waits(of(whole, "one-b"), of(whole, "one-a"))
    assert not whole.waits(of(whole, "one-a"), of(whole, "one-b"))


def test_permissions_are_for_one_service_account(whole: Recording) -> None:
    association = whole.one(aws.eks.PodIdentityAssociation).inputs
    assert (association["namespace"], association["serviceAccount"]) == ("one-system", "controller")
    assert whole.one(aws.iam.RolePolicy).inputs["policy"] == READ


def test_crds_are_skipped_if_another_release_installs_them(whole: Recording) -> None:
    assert of(whole, "one-release").inputs["skipCrds"] is True
    assert of(whole, "one-crds").inputs["skipCrds"] is False


def test_an_add_on_depends_on_all_parts_of_a_required_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = installed(monkeypatch, addon(Two, "two"), addon(One, "one", WHOLE))
    for earlier in ("one-release", "one-a", "one-b"):
        assert recording.waits(of(recording, "two-release"), of(recording, earlier))


def test_an_add_on_depends_only_on_the_crds_of_a_followed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = installed(monkeypatch, addon(Follower, "follower"), addon(One, "one", WHOLE))
    assert recording.waits(of(recording, "follower-release"), of(recording, "one-crds"))
    for needless in ("one-base", "one-release", "one-a"):
        assert not recording.waits(of(recording, "follower-release"), of(recording, needless))


def test_an_add_on_depends_on_all_parts_of_a_followed_one_without_crd_release(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = installed(monkeypatch, addon(Follower, "follower"), addon(One, "one"))
    assert recording.waits(of(recording, "follower-release"), of(recording, "one-release"))


@pytest.mark.parametrize(("addon_name", "release_name", "logical"), [
    ("kueue", "kueue", "kueue-release"),
    ("kserve", "kserve-crd", "kserve-crd"),
    ("trainer", "kubeflow-trainer", "trainer-kubeflow-trainer"),
    ("kube", "kubecost", "kube-kubecost"),
])  # fmt: skip
def test_logical_names_begin_with_the_add_on(addon_name: str, release_name: str, logical: str) -> None:
    assert install.logical_name(addon_name, release_name) == logical


def test_unrelated_add_ons_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = installed(monkeypatch, addon(settings("Other"), "other"), addon(One, "one"))
    assert not recording.waits(of(recording, "other-release"), of(recording, "one-release"))
    assert not recording.waits(of(recording, "one-release"), of(recording, "other-release"))


def test_ready_contains_releases_and_objects_or_permissions(monkeypatch: pytest.MonkeyPatch) -> None:
    only_permissions = Parts(permissions=WHOLE.permissions)
    recording = installed(monkeypatch, addon(One, "one", WHOLE), addon(settings("Other"), "other", only_permissions))
    names = {key: {urn.rpartition("::")[2] for urn in urns} for key, urns in recording.returned.items()}
    assert names["one"] == {"one-crds", "one-base", "one-release", "one-a", "one-b"}
    assert names["other"] == {"other-controller-policy", "other-controller-association"}


def test_a_disabled_add_on_has_no_dependencies() -> None:
    assert install.InstalledAddOns(ready={}).of(One) == ()


def test_a_missing_requirement_stops_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="two requires One, which is not enabled"):
        installed(monkeypatch, addon(Two, "two"))


@pytest.mark.parametrize(("addon_name", "account", "logical"), [
    ("mlflow", "mlflow", "mlflow-pod"),
    ("kubecost", "kubecost-finops-agent", "kubecost-finops-agent"),
    ("one", "controller", "one-controller"),
])  # fmt: skip
def test_role_names_contain_add_on_and_service_account_once(addon_name: str, account: str, logical: str) -> None:
    assert install.role_name(addon_name, account) == logical


SYSTEM = {"nodeSelector": {keys.ROLE: "system"}}
REQUESTS = {"resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}}


def test_requests_on_system_nodes_are_multiplied_by_replicas() -> None:
    assert of_values({**SYSTEM, "replicas": 2, **REQUESTS}) == Demand(cpu_millis=500, memory_mib=2048, largest_mib=1024)


def test_a_part_inherits_selector_and_replicas_of_the_enclosing_part() -> None:
    nested = {"controller": {**SYSTEM, "replicaCount": 3, "manager": REQUESTS, "sidecars": [REQUESTS]}}
    assert of_values(nested) == Demand(cpu_millis=1500, memory_mib=6144, largest_mib=1024)


@pytest.mark.parametrize("values", [
    REQUESTS,
    {"nodeSelector": {keys.GPU: "true"}, **REQUESTS},
    {**SYSTEM, "worker": {"nodeSelector": {keys.GPU: "true"}, **REQUESTS}},
    {**SYSTEM, "volume": {"resources": {"requests": {"storage": "100Gi"}}}},
], ids=["anywhere", "elsewhere", "elsewhere below", "a volume"])  # fmt: skip
def test_requests_on_other_nodes_do_not_count(values: dict[str, object]) -> None:
    assert of_values(values) == NOTHING


def warnings_of(text: str, stack: str, folder: Path) -> list[str]:
    (folder / f"Pulumi.{stack}.yaml").write_text(text)
    platform = load(read_stack(stack, folder), stack=stack).platform
    return [message for level, message in record_platform(platform, stack=stack).messages if level == "warning"]


@pytest.mark.parametrize("stack", NAMES)
def test_the_system_pools_of_every_stack_are_large_enough(stack: str) -> None:
    assert [text for _, text in recorded(stack).messages if text.startswith("pools.")] == []


def test_too_small_system_pools_are_reported_with_requests_and_allocatable(tmp_path: Path) -> None:
    text = (FOLDER / "Pulumi.prod.yaml").read_text()
    small = text.replace("[m7i.2xlarge, m6i.2xlarge, m7a.2xlarge]", "[m7i.xlarge, m6i.xlarge, m7a.xlarge]")
    assert small != text
    (warning,) = warnings_of(small, "prod", tmp_path)
    assert warning.startswith("pools.system: a controller requests 16.0 GiB, but a system node has at most 1")
    few = text.replace("min: 3, max: 4}", "min: 2, max: 2}")
    assert few != text
    (warning,) = warnings_of(few, "prod", tmp_path)
    assert warning.startswith("pools.system: the controllers of all add-ons request")
    assert warning.endswith("Raise `max`, or use larger instance types.")
