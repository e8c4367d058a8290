"""The files of a rendering."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from slipway.render import writer
from slipway.render.layout import files_of
from slipway.render.recorder import record
from slipway.render.recording import RenderError
from tests.slipway.render.programs import everything

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


# A rendering replaces a previous one, and never other files.


def tree(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def test_files_and_folders_are_written_with_a_marker(tmp_path: Path) -> None:
    writer.replace(tmp_path / "deep" / "out", {"a.json": "1", "b/c.yaml": "2"})
    assert tree(tmp_path / "deep" / "out").keys() == {"a.json", "b/c.yaml", writer.MARKER}
    assert (tmp_path / "deep" / "out").stat().st_mode & 0o777 == 0o755


def test_a_previous_rendering_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"old/gone.yaml": "x", "same.json": "before"})
    writer.replace(out, {"same.json": "after"})
    assert tree(out).keys() == {"same.json", writer.MARKER}
    assert (out / "same.json").read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "nothing is left beside it"


def test_an_empty_folder_is_accepted(tmp_path: Path) -> None:
    writer.replace(tmp_path, {"a": "1"})
    assert (tmp_path / "a").read_text() == "1"


def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "resources.json").write_text("mine")
    with pytest.raises(RenderError, match=r"has other files \(resources\.json\)"):
        writer.replace(tmp_path, {"resources.json": "theirs"})
    assert tree(tmp_path) == {"resources.json": "mine"}


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RenderError, match="this is a file"):
        writer.replace(tmp_path / "out", {})


def test_a_symbolic_link_is_followed_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    writer.replace(tmp_path / "link", {"a": "1"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "1"


def test_a_failed_write_keeps_the_previous_rendering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"a": "1"})
    real = Path.write_text

    def full_disk(self: Path, text: str, **options: str) -> int:
        if self.name == "b":
            raise OSError(28, "No space left on device", str(self))
        return real(self, text, **options)

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(RenderError, match="No space left on device"):
        writer.replace(out, {"a": "2", "b": "3"})
    assert tree(out).keys() == {"a", writer.MARKER}
    assert (out / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failed_swap_restores_the_previous_rendering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    writer.replace(out, {"a": "1"})
    real = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if Path(target) == out and self.name != "previous":
            raise OSError(16, "Device or resource busy", str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(RenderError, match="busy"):
        writer.replace(out, {"a": "2"})
    assert (out / "a").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
