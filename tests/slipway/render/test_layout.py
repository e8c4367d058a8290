"""The files of a rendering, and the difference of two recordings."""

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
import yaml

from slipway.render.layout import Changes, changes, files_of
from slipway.render.recorder import record
from slipway.render.recording import Recording, RenderError
from tests.slipway.render.programs import Thing, Toy, everything

# The files of a rendering: one per object, with predictable names and reproducible content.


class Object(pulumi.CustomResource):
    def __init__(self, name: str, api: str, kind: str, metadata: dict[str, str], provider: Any, **more: Any) -> None:
        group = api if "/" in api else f"core/{api}"
        props = {"apiVersion": api, "kind": kind, "metadata": metadata, **more}
        super().__init__(f"kubernetes:{group}:{kind}", name, props, pulumi.ResourceOptions(provider=provider))


class Release(pulumi.CustomResource):
    def __init__(self, logical_name: str, provider: Any, **props: Any) -> None:
        super().__init__(
            "kubernetes:helm.sh/v3:Release", logical_name, props, pulumi.ResourceOptions(provider=provider)
        )


class Kubernetes(pulumi.ProviderResource):
    def __init__(self) -> None:
        super().__init__("kubernetes", "kubernetes", {})


def rendered(program_of: Callable[[Kubernetes], object]) -> dict[str, str]:
    def program() -> None:
        program_of(Kubernetes())

    return files_of(record(program, stack="dev"))


def test_resources_are_sorted_by_urn_with_inputs_and_options() -> None:
    listed = json.loads(files_of(record(everything, stack="dev"))["resources.json"])
    assert [item["urn"] for item in listed] == sorted(item["urn"] for item in listed)
    thing = next(item for item in listed if item["name"] == "thing")
    assert thing["type"] == "toy:index:Thing"
    assert thing["parent"] == "urn:pulumi:dev::slipway::pulumi:pulumi:Stack::slipway-dev"
    assert thing["inputs"]["nested"]["size"] == 3
    assert thing["options"]["ignoreChanges"] == ["labels", "size"]
    assert thing["options"]["retainOnDelete"] is True
    assert thing["options"]["provider"] == "urn:pulumi:dev::slipway::pulumi:providers:toy::toy"
    assert len(thing["options"]["dependsOn"]) == 4


def test_no_secret_is_in_any_file() -> None:
    assert "hush" not in "".join(files_of(record(everything, stack="dev")).values())


def test_objects_are_in_the_folder_of_their_namespace() -> None:
    def make(cluster: Kubernetes) -> None:
        Object("ns", "v1", "Namespace", {"name": "team-a"}, cluster)
        Object(
            "quota",
            "v1",
            "ResourceQuota",
            {"name": "gpus", "namespace": "team-a"},
            cluster,
            spec={"hard": {"pods": "1"}},
        )
        Object("pool", "karpenter.sh/v1", "NodePool", {"name": "a100"}, cluster)

    files = rendered(make)
    assert [path for path in files if path.startswith("manifests/")] == [
        "manifests/_cluster/namespace-team-a.yaml",
        "manifests/team-a/resourcequota-gpus.yaml",
        "manifests/_cluster/nodepool-a100.yaml",
    ]
    assert yaml.safe_load(files["manifests/team-a/resourcequota-gpus.yaml"]) == {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "team-a"},
        "spec": {"hard": {"pods": "1"}},
    }


def test_kinds_of_the_same_name_in_two_api_groups_have_different_files() -> None:
    def make(cluster: Kubernetes) -> None:
        Object("a", "networking.k8s.io/v1", "Ingress", {"name": "web", "namespace": "n"}, cluster)
        Object("b", "extensions/v1", "Ingress", {"name": "web", "namespace": "n"}, cluster)

    assert {path for path in rendered(make) if path.startswith("manifests/")} == {
        "manifests/n/ingress.networking.k8s.io-web.yaml",
        "manifests/n/ingress.extensions-web.yaml",
    }


def test_two_resources_that_are_the_same_object_are_refused() -> None:
    def make(cluster: Kubernetes) -> None:
        Object("one", "v1", "ConfigMap", {"name": "c", "namespace": "n"}, cluster)
        Object("other", "v1", "ConfigMap", {"name": "c", "namespace": "n"}, cluster)

    with pytest.raises(RenderError, match=r"ConfigMap::one and .*ConfigMap::other are the same object"):
        rendered(make)


def test_a_values_file_starts_with_its_chart() -> None:
    def make(cluster: Kubernetes) -> None:
        Release(
            "karpenter",
            cluster,
            name="karpenter",
            chart="karpenter",
            version="1.9.0",
            namespace="kube-system",
            repositoryOpts={"repo": "https://charts.example.com"},
            values={"b": 1, "a": {"script": "one\ntwo\n"}},
        )

    assert rendered(make)["values/karpenter.yaml"] == (
        "# chart: karpenter\n# version: 1.9.0\n# repository: https://charts.example.com\n# namespace: kube-system\n"
        "a:\n  script: |\n    one\n    two\nb: 1\n"
    )


def test_releases_of_the_same_name_in_two_namespaces_have_different_files() -> None:
    def make(cluster: Kubernetes) -> None:
        Release("one", cluster, name="agent", namespace="a", chart="x")
        Release("two", cluster, name="agent", namespace="b", chart="x")

    assert {path for path in rendered(make) if path.startswith("values/")} == {
        "values/a.agent.yaml",
        "values/b.agent.yaml",
    }


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "/abs", "system:node", ".hidden"])
def test_no_name_escapes_the_folder(name: str) -> None:
    paths = rendered(lambda cluster: Object("x", "v1", "ConfigMap", {"name": name, "namespace": name}, cluster))
    (path,) = (path for path in paths if path.startswith("manifests/"))
    folder, file = path.removeprefix("manifests/").split("/")
    assert not folder.startswith(".")
    assert file.startswith("configmap-")
    assert ":" not in path


# A comparison lists exactly the resources that differ.


URN = "urn:pulumi:dev::slipway::toy:index:Thing::"


def recorded(**things: dict[str, Any]) -> Recording:
    def program() -> None:
        toy = Toy()
        for name, props in things.items():
            opts = props.pop("opts", pulumi.ResourceOptions())
            Thing(name, pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=toy)), **props)

    return record(program, stack="dev")


def test_a_recording_does_not_differ_from_itself() -> None:
    make: Callable[[], Recording] = lambda: recorded(a={"text": "1"})  # noqa: E731
    assert not changes(make(), make())


def test_added_removed_and_changed_resources_are_distinguished() -> None:
    before = recorded(a={"text": "1"}, b={"text": "1"}, c={"text": "1"})
    after = recorded(d={"text": "1"}, c={"text": "2"}, a={"text": "1"})
    result = changes(before, after)
    assert result == Changes(added=(f"{URN}d",), removed=(f"{URN}b",), changed=(f"{URN}c",))
    assert result
    assert result.urns == (f"{URN}b", f"{URN}c", f"{URN}d")


def test_an_option_alone_is_a_change() -> None:
    before = recorded(a={"text": "1"})
    after = recorded(a={"text": "1", "opts": pulumi.ResourceOptions(protect=True)})
    assert changes(before, after).changed == (f"{URN}a",)


def test_the_order_in_the_program_is_not_a_change() -> None:
    assert not changes(recorded(a={}, b={}), recorded(b={}, a={}))
