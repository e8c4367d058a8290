"""A controller that tests can build at once: a script in Python with a webhook that labels ConfigMaps.

It reads what a real one reads: its configuration file, its certificate below TMPDIR, KUBECONFIG. It writes the user
that the API server takes it for to its working directory.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.kubernetes.controllers.running import Builds
from sandbox.kubernetes.controllers.table import CERTIFICATES, WEBHOOK, Controller
from sandbox.kubernetes.objects import Object

VERSION = "1.2.0"
SERVICE = "gadget-webhook"
LABELED = "gadget.example.com/labeled"
SCRIPT = """
import base64, http.server, json, os, pathlib, ssl, sys, threading, urllib.request

import yaml

options = dict(each[2:].split("=", 1) for each in sys.argv[1:])
settings = yaml.safe_load(pathlib.Path(options["config"]).read_text())
config = yaml.safe_load(pathlib.Path(os.environ["KUBECONFIG"]).read_text())
cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]


class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, *_):
        pass


class Hook(Health):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        labels = review["request"]["object"]["metadata"].get("labels") or {}
        labels["gadget.example.com/labeled"] = settings["label"]
        patch = [{"op": "add", "path": "/metadata/labels", "value": labels}]
        response = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch"}
        response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
request = urllib.request.Request(
    cluster["server"] + "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}',
    {"Authorization": "Bearer " + pathlib.Path(user["tokenFile"]).read_text(), "Content-Type": "application/json"},
)
who = json.load(urllib.request.urlopen(request, context=context))["status"]["userInfo"]
pathlib.Path("whoami").write_text(who["username"])

hook = http.server.ThreadingHTTPServer(("127.0.0.1", settings["port"]), Hook)
serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
folder = pathlib.Path(os.environ["TMPDIR"], "k8s-webhook-server", "serving-certs")
serving.load_cert_chain(folder / "tls.crt", folder / "tls.key")
hook.socket = serving.wrap_socket(hook.socket, server_side=True)
threading.Thread(target=hook.serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(options["health"])), Health).serve_forever()
"""


@dataclass(frozen=True, kw_only=True)
class Gadget(Controller):
    """Its row; it is built once its file exists."""

    path: Path

    @property
    def binary(self) -> Path | None:
        """The script."""
        return self.path if self.path.exists() else None

    @property
    def version(self) -> str:
        """Its only version."""
        return VERSION

    def build(self) -> None:
        """Write the script."""
        self.path.write_text(f"#!{sys.executable}\n{SCRIPT}")
        self.path.chmod(0o700)


class ByHand(Builds):
    """Builds nothing: tests do."""

    def __init__(self) -> None:
        super().__init__(Path())

    def want(self, controller: Controller) -> str:
        """Nobody builds it."""
        return ""


def gadget(directory: Path) -> Gadget:
    """The row of a controller that is not built yet."""
    return Gadget(
        name="gadget",
        image="example/gadget",
        services=(SERVICE,),
        ports={9443: WEBHOOK},
        configuration={"port": "{webhook}"},
        flags=("--health={health}",),
        issued=True,
        tag=VERSION,
        path=directory / "gadget",
    )


def manifests(namespace: str, label: str = "one", version: str = VERSION) -> list[Object]:
    """What would install it."""
    meta = {"name": "gadget", "namespace": namespace}
    container = {
        "name": "gadget",
        "image": f"registry.example.com/example/gadget:{version}",
        "args": ["--config=/gadget.json", f"--comment={label}", "--health=8081"],
        "ports": [{"name": "hooks", "containerPort": 9443}],
        "volumeMounts": [
            {"name": "config", "mountPath": "/gadget.json", "subPath": "gadget.json"},
            {"name": "cert", "mountPath": f"/{CERTIFICATES}"},
        ],
    }
    volumes = [
        {"name": "config", "configMap": {"name": "gadget"}},
        {"name": "cert", "secret": {"secretName": "gadget"}},
    ]
    labels = {"app": "gadget"}
    template = {
        "metadata": {"labels": labels},
        "spec": {"serviceAccountName": "gadget", "containers": [container], "volumes": volumes},
    }
    service = {"selector": labels, "ports": [{"port": 443, "targetPort": "hooks"}]}
    return [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"gadget.json": f'{{"label": "{label}"}}'}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {**meta, "name": SERVICE}, "spec": service}, {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta,
            "spec": {"selector": {"matchLabels": labels}, "template": template}}]  # fmt: skip


def webhook(namespace: str) -> Object:
    """The configuration of its webhook."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    hook = {
        "name": "label.gadget.example.com",
        "clientConfig": {"service": {"namespace": namespace, "name": SERVICE, "path": "/label"}},
        "rules": [rule],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "objectSelector": {"matchLabels": {"example.com/wants": "label"}},
    }
    api = "admissionregistration.k8s.io/v1"
    return {
        "apiVersion": api,
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [hook],
    }
