"""An import reads an API server page by page, changes nothing, and names what it may not read."""

from base64 import b64decode
from pathlib import Path

import pytest

from policies import manifests
from sandbox.kubernetes import client as clients
from sandbox.kubernetes.client import KubeClient
from sandbox.kubernetes.crds import install
from slipway.imported.folder import Folder
from slipway.imported.keep import Names
from slipway.imported.sources import of_cluster
from tests.sandbox.plane import ControlPlane, crd

pytestmark = pytest.mark.sandbox
CORE = "/api/v1/namespaces/default"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
LABELS = {"owner": "helm", "name": "kueue", "status": "deployed", "version": "2"}


def test_what_may_be_read_is_kept_and_the_rest_is_named(
    plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = plane.client
    install(admin, crd("acme.io", "Vault", {"key": {"type": "string"}}), "test")
    pod = {"containers": [{"name": "c", "image": "i", "env": [{"name": "T", "value": "hunter2"}]}]}
    job = {"template": {"spec": {**pod, "restartPolicy": "Never"}}, "suspend": True}
    vault = {"apiVersion": "acme.io/v1", "kind": "Vault", "metadata": {"name": "one"}, "spec": {"key": "hunter2"}}
    secret = {"metadata": {"name": "sh.helm.release.v1.kueue.v2", "labels": LABELS}, "stringData": {"x": "hunter2"}}
    try:
        for number in range(7):
            admin.call("POST", f"{CORE}/limitranges", {"metadata": {"name": f"r{number}"}, "spec": {"limits": []}})
        admin.call("POST", JOBS, {"metadata": {"name": "train"}, "spec": job})
        admin.call("POST", "/apis/acme.io/v1/namespaces/default/vaults", vault)
        admin.call("POST", f"{CORE}/secrets", secret)
        reader, sent, called = reader_of(admin), set[str](), KubeClient.call

        def call(self: KubeClient, method: str, *rest: object, **more: object) -> object:
            sent.add(method)
            answer = called(self, method, *rest, **more)  # type: ignore[arg-type]
            assert "hunter2" not in str(answer) or "/jobs" in str(rest)
            return answer

        monkeypatch.setattr(clients, "PAGE", 3)
        monkeypatch.setattr(KubeClient, "call", call)
        writer = Folder(Names())
        writer.add(of_cluster(reader, writer.unread))
        writer.write(tmp_path / "out")
        assert sent == {"GET"}
        assert {"Pod", "Node", "Secret"} <= set(writer.unread)
        assert 'User "system:serviceaccount:default:reader" cannot list resource "nodes"' in writer.unread["Node"]
        assert "Event" not in writer.unread
        own = [one for one in writer.objects["LimitRange"] if one["metadata"]["namespace"] == "default"]
        assert len(own) == 7
        assert writer.others["Vault.acme.io"] == ["default/one"]
        assert "hunter2" not in "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir())
        assert "train" in {one["metadata"]["name"] for one in manifests.read(tmp_path / "out")}
        assert writer.releases == []
        whole = Folder(Names())
        whole.add(of_cluster(admin, whole.unread))
        # Other tests' releases are in the same cluster.
        release = {"namespace": "default", "name": "kueue", "status": "deployed", "version": "2"}
        assert (whole.unread, [one for one in whole.releases if one["name"] == "kueue"]) == ({}, [release])
    finally:
        monkeypatch.undo()
        for plural in ("limitranges", "secrets"):
            admin.call("DELETE", f"{CORE}/{plural}")
        admin.call("DELETE", f"{JOBS}/train", {"propagationPolicy": "Background"})


def reader_of(admin: KubeClient) -> KubeClient:
    """A client of an account that may read some kinds alone."""
    rules = [
        {"apiGroups": ["batch", "acme.io", "apiextensions.k8s.io"], "resources": ["*"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["limitranges", "namespaces"], "verbs": ["list"]},
    ]
    admin.call("POST", f"{CORE}/serviceaccounts", {"metadata": {"name": "reader"}})
    admin.call("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "reader"}, "rules": rules})
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "default"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    admin.call(
        "POST", f"{RBAC}/clusterrolebindings", {"metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]}
    )
    answer = admin.call("POST", f"{CORE}/serviceaccounts/reader/token", {"spec": {}})
    return KubeClient(admin.server, b64decode(admin.certificate_authority).decode(), answer["status"]["token"])
