"""Kubeflow Pipelines (kubeflow.org/docs/components/pipelines) on Argo Workflows, with a server for each of some
namespaces of teams. Its project publishes kustomize YAML and no chart.

Standalone mode: a server has one namespace for all of its runs (`POD_NAMESPACE`) and knows no users; mode multi-user
needs Istio and Kubeflow's profiles. A server is one pod: the API server, the persistence agent and the controller of
recurring runs, of which upstream runs one each, and ML Metadata, without which no step starts.

Not installed: what serves pipelines of version 1 alone (cache server and its deployer, metadata writer, visualization
server; here the API server refuses them), the viewer for TensorBoard, and the UI with its Envoy, which has no login.

Facts of github.com/kubeflow/pipelines, tag 2.17.0: images, flags, ports and probes from manifests/kustomize/base, keys
of the configuration from backend/src/apiserver; ML Metadata's are those of github.com/google/ml-metadata, tag v1.14.0.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

import pulumi

from components.addons import images
from components.addons.mlflow.values import PASSWORD_SCRIPT, password_container
from components.base.addon import AddOn, AddOnContext, AddOnFacts, Parts, Permissions
from components.base.iam import Inline, Statement, document
from components.base.operator import UNPRIVILEGED, Operator, custom_resource, object_of
from components.base.outputs import ClusterOutputs, DatabaseOutputs
from components.base.placement import sized
from components.storage.database import USER
from components.storage.key import data_key_use_on, secret_key_use_on
from components.tenancy.pipelines import server_role, steps_role
from components.tenancy.workload_permissions import SERVICE_ACCOUNT
from spec.catalog import regions
from spec.catalog.software import MANIFESTS
from spec.settings.addons.batch import KubeflowPipelines as Settings
from spec.teams import labels, pipelines

NAME: Final = "kubeflow-pipelines"
SCRIPTS: Final = "database-scripts"
FILES: Final = PurePosixPath("/run/database")  # in memory: files with the password
STARTED: Final = PurePosixPath("/run/started")  # what a process had of them when it started
TEMPLATES: Final = PurePosixPath("/etc/templates")
CONFIG, METADATA = "config.json", "metadata.pbtxt"
KEPT_SECONDS: Final = 86400
"""How long a finished workflow stays in the cluster; upstream's, after which the agent doesn't report it any more."""
TOKENS: Final = "/var/run/secrets/kubeflow/tokens"


def image(component: str) -> str:
    """One of the project's images; they share registry and tag."""
    return MANIFESTS[NAME].image.replace("api-server", component)


def operator(namespace: str) -> Operator:
    """What the objects of a namespace's server have in common."""
    name = pipelines.server(namespace)
    return Operator(name, pipelines.NAMESPACE, {"app.kubernetes.io/name": NAME, pipelines.LABEL: name})


def definition() -> dict[str, Any]:
    """The CRD of recurring runs. It is untyped upstream, too."""
    untyped = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "x-kubernetes-map-type": "atomic"}
    properties = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"type": "object"},
        "spec": untyped,
        "status": untyped,
    }
    schema = {"required": ["spec", "status"], "properties": properties}
    names = {
        "kind": "ScheduledWorkflow",
        "listKind": "ScheduledWorkflowList",
        "plural": "scheduledworkflows",
        "singular": "scheduledworkflow",
        "shortNames": ["swf"],
    }
    return custom_resource("kubeflow.org", "v1beta1", names, schema, {})


def ingress(namespaces: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Network policies by key: nothing is allowed, except each namespace to its server."""
    closed = {"podSelector": {}, "policyTypes": ["Ingress"]}
    found = {"ingress": _policy("default-deny", closed)}
    for namespace in namespaces:
        server = pipelines.server(namespace)
        peer = {"namespaceSelector": {"matchLabels": {labels.NAMESPACE: namespace}}}
        ports = [{"protocol": "TCP", "port": port} for port in pipelines.PORTS.values()]
        opened = {
            "podSelector": {"matchLabels": {pipelines.LABEL: server}},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [peer], "ports": ports}],
        }
        found[f"ingress-{namespace}"] = _policy(server, opened)
    return found


def _policy(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    return object_of("networking.k8s.io/v1", "NetworkPolicy", name, pipelines.NAMESPACE, spec=dict(spec))


def configuration(
    namespace: str, settings: Settings, *, host: str, port: int, bucket: str, s3: str, region: str
) -> str:
    """`config.json` of the API server. It takes the place of the one in the image.

    Args:
        namespace: Namespace of the runs.
        settings: Settings of the add-on.
        host: Host of the database.
        port: Its port.
        bucket: Bucket of artifacts.
        s3: Host of S3 in the region.
        region: AWS Region.
    """
    # What `job-bounds` asks for, and a token for the executor, which reports the result of each step.
    patch = {
        "activeDeadlineSeconds": settings.active_deadline_seconds,
        "automountServiceAccountToken": True,
        "ttlStrategy": {"secondsAfterCompletion": KEPT_SECONDS},
    }
    whole = {
        "DBDriverName": "mysql",
        "DBConfig": {
            "ConMaxLifeTime": "120s",
            "MySQLConfig": {
                "Host": host,
                "Port": str(port),
                "User": USER,
                "Password": "${password}",
                "DBName": pipelines.database(namespace, "mlpipeline"),
                "GroupConcatMaxLen": "4194304",
                # The image doesn't have RDS's certificates (github.com/go-sql-driver/mysql, `tls`).
                "ExtraParams": {"tls": "skip-verify"},
            },
        },
        "InitConnectionTimeout": "6m",
        # Empty keys: the SDK's credential chain finds EKS Pod Identity (client_manager.go, `loadAWSConfig`).
        "ObjectStoreConfig": {
            "AccessKey": "",
            "SecretAccessKey": "",
            "BucketName": bucket,
            "Host": s3,
            "Region": region,
            "Secure": True,
            "PipelinePath": pipelines.prefix(namespace),
        },
        "POD_NAMESPACE": namespace,
        "DEFAULTPIPELINERUNNERSERVICEACCOUNT": SERVICE_ACCOUNT,
        # Namespaces of teams may enforce `restricted`.
        "DEFAULT_SECURITY_CONTEXT_RUN_AS_NON_ROOT": "true",
        "COMPILED_PIPELINE_SPEC_PATCH": json.dumps(patch),
        "BLOCK_V1_PIPELINES": "true",
        "CacheEnabled": "true",
        "CRON_SCHEDULE_TIMEZONE": "UTC",
    }
    return json.dumps(whole, indent=2)


def metadata(namespace: str, *, host: str, port: int) -> str:
    """Configuration of ML Metadata, in the text format of Protocol Buffers (ml_metadata/proto/metadata_store.proto). It
    has no flag for TLS, which `ssl_options` turns on."""
    return f"""\
connection_config {{
  mysql {{
    host: "{host}"
    port: {port}
    database: "{pipelines.database(namespace, "metadb")}"
    user: "{USER}"
    password: "${{password}}"
    ssl_options {{ verify_server_cert: false }}
  }}
}}
migration_options {{ enable_upgrade_migration: true }}
"""


_SECURITY: Final = {**UNPRIVILEGED, "runAsNonRoot": True, "privileged": False}
_MOUNTS: Final = [
    {"name": "database", "mountPath": str(FILES), "readOnly": True},
    {"name": "started", "mountPath": str(STARTED)},
]


def _of_file(file: str, command: str) -> list[str]:
    """A command that keeps what it read of a file, for `_unchanged`."""
    return ["sh", "-c", f"cp {FILES / file} {STARTED / file} && exec {command}"]


def _unchanged(file: str, *others: str) -> dict[str, Any]:
    """A liveness probe. RDS rotates the password every seven days, and these processes read it once: kubelet restarts
    them within a minute after their file has changed."""
    test = " && ".join([f"cmp -s {FILES / file} {STARTED / file}", *others])
    return {"exec": {"command": ["sh", "-c", test]}, "periodSeconds": 20, "timeoutSeconds": 5, "failureThreshold": 2}


def containers(namespace: str, through: Mapping[str, str], region: str) -> list[dict[str, Any]]:
    """The four processes of a server.

    Args:
        namespace: Namespace of its runs.
        through: Prefixes of cached images by registry.
        region: AWS Region.
    """
    health = {"path": "/apis/v1beta1/healthz", "port": pipelines.PORTS["http"]}
    # Images of pods that the API server has made: no manifest has them.
    run = {f"V2_{name.upper()}_IMAGE": images.cached(image(name), through) for name in ("driver", "launcher")}
    flags = f"--namespace={namespace} --mlPipelineAPIServerName=localhost --logtostderr=true"
    tokens = [{"name": "tokens", "mountPath": TOKENS, "readOnly": True}]
    api = {
        "name": "api-server",
        "image": image("api-server"),
        "command": _of_file(CONFIG, f"/bin/apiserver --config={FILES} -logtostderr=true"),
        "env": [{"name": name, "value": value} for name, value in {**run, "AWS_REGION": region}.items()],
        "ports": [{"name": name, "containerPort": pipelines.PORTS[name]} for name in ("http", "grpc")],
        # A minute for migrations of the database.
        "startupProbe": {"httpGet": health, "failureThreshold": 12, "periodSeconds": 5, "timeoutSeconds": 2},
        "readinessProbe": {"httpGet": health, "periodSeconds": 5, "timeoutSeconds": 2},
        "livenessProbe": _unchanged(CONFIG, f"wget -q -O /dev/null http://localhost:{health['port']}{health['path']}"),
        "resources": sized("250m", "1Gi"),
        "volumeMounts": _MOUNTS,
    }
    agent = {
        "name": "persistence-agent",
        "image": image("persistence-agent"),
        "command": ["/bin/persistence_agent", *flags.split(), f"--ttlSecondsAfterWorkflowFinish={KEPT_SECONDS}"],
        "resources": sized("100m", "512Mi"),
        "volumeMounts": tokens,
    }
    recurring = {
        "name": "scheduled-workflow",
        "image": image("scheduled-workflow-controller"),
        "command": ["/bin/controller", *flags.split()],
        "env": [{"name": "CRON_SCHEDULE_TIMEZONE", "value": "UTC"}],
        "resources": sized("50m", "256Mi"),
        "volumeMounts": tokens,
    }
    port = pipelines.PORTS["metadata"]
    store = {
        "name": "metadata",
        "image": MANIFESTS["ml-metadata"].image,
        "command": _of_file(
            METADATA,
            f"/bin/metadata_store_server --grpc_port={port} --metadata_store_server_config_file={FILES / METADATA}",
        ),
        "ports": [{"name": "metadata", "containerPort": port}],
        "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 5, "timeoutSeconds": 2},
        "livenessProbe": _unchanged(METADATA),
        "resources": sized("100m", "512Mi"),
        "volumeMounts": _MOUNTS,
    }
    return [{**each, "securityContext": dict(_SECURITY)} for each in (api, agent, recurring, store)]


def deployment(namespace: str, database: DatabaseOutputs, context: AddOnContext) -> dict[str, Any]:
    """A server. One pod: neither agent nor controller elects a leader, so two would start recurring runs twice."""
    known, region = operator(namespace), context.cluster.region
    through = images.through(context)
    templates = [str(TEMPLATES / each) for each in (CONFIG, METADATA)]
    sidecar = password_container(region, database, str(FILES), *templates, written=str(FILES / METADATA))
    sidecar["volumeMounts"].append({"name": "templates", "mountPath": str(TEMPLATES), "readOnly": True})
    token = {"audience": "pipelines.kubeflow.org", "expirationSeconds": 3600}
    paths = ("persistenceagent-sa-token", "scheduledworkflow-sa-token")
    memory = {"medium": "Memory", "sizeLimit": "1Mi"}
    pod = {
        "serviceAccountName": known.name,
        # The files are readable only by their owner.
        "securityContext": {
            "fsGroup": 1001,
            "runAsGroup": 1001,
            "runAsNonRoot": True,
            "runAsUser": 1001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [sidecar],
        "containers": containers(namespace, through, region),
        "volumes": [
            {"name": "database", "emptyDir": memory},
            {"name": "started", "emptyDir": memory},
            {"name": "scripts", "configMap": {"name": SCRIPTS}},
            {"name": "templates", "configMap": {"name": known.name}},
            {
                "name": "tokens",
                "projected": {"sources": [{"serviceAccountToken": {**token, "path": path}} for path in paths]},
            },
        ],
        **context.placement,
    }
    return {
        **known.manifest("apps/v1", "Deployment"),
        "spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": known.labels},
            "template": {"metadata": {"labels": known.labels}, "spec": pod},
        },
    }


def service(namespace: str) -> dict[str, Any]:
    """The Service to which the names in the namespace lead."""
    known = operator(namespace)
    ports = [{"name": name, "port": port, "targetPort": port} for name, port in pipelines.PORTS.items()]
    return {**known.manifest("v1", "Service"), "spec": {"ports": ports, "selector": known.labels}}


def policy(cluster: ClusterOutputs, namespace: str, *, secret_arn: str, bucket_arn: str) -> str:
    """Permissions of a server: the database's secret, and the namespace's artifacts of pipelines."""
    prefix = pipelines.prefix(namespace)
    return document(
        Statement("Password", ["secretsmanager:GetSecretValue"], [secret_arn]),
        secret_key_use_on(cluster),
        Statement("Find", ["s3:ListBucket"], [bucket_arn], conditions={"StringLike": {"s3:prefix": [f"{prefix}/*"]}}),
        Statement("Files", ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"], [f"{bucket_arn}/{prefix}/*"]),
        data_key_use_on(cluster),
    )


class KubeflowPipelines(AddOn[Settings]):
    """The CRD of recurring runs, the roles, and a server for each namespace with its permissions and network policy."""

    name = NAME
    software = MANIFESTS[NAME]

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """The roles, the accounts of the servers, and which namespace reaches which server."""
        accounts = {
            f"account-{namespace}": operator(namespace).manifest("v1", "ServiceAccount")
            for namespace in self.settings.namespaces
        }
        roles = {"role": server_role(), "role-steps": steps_role()}
        return {**roles, **accounts, **ingress(self.settings.namespaces)}

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        namespaces, database = self.settings.namespaces, context.storage.databases["pipelines"]
        scripts = object_of("v1", "ConfigMap", SCRIPTS, self.namespace.name, data={"password_file.py": PASSWORD_SCRIPT})
        return Parts(
            permissions=[
                Permissions(
                    service_account=pipelines.server(namespace),
                    policy=Inline(document=self._policy(context, namespace)),
                    role=pipelines.server(namespace),
                )
                for namespace in namespaces
            ],
            before={
                "crd-scheduledworkflows": definition(),
                "scripts": scripts,
                **self.boundaries(context),
                **{f"templates-{namespace}": self._templates(context, namespace) for namespace in namespaces},
            },
            objects={
                **{f"server-{namespace}": deployment(namespace, database, context) for namespace in namespaces},
                **{f"service-{namespace}": service(namespace) for namespace in namespaces},
            },
        )

    def _policy(self, context: AddOnContext, namespace: str) -> pulumi.Output[str]:
        database, bucket = context.storage.databases["pipelines"], context.storage.buckets["state"]
        known = pulumi.Output.all(secret_arn=database.secret_arn, bucket_arn=bucket.arn)
        return known.apply(lambda arns: policy(context.cluster, namespace, **arns))

    def _templates(self, context: AddOnContext, namespace: str) -> dict[str, Any]:
        database, region = context.storage.databases["pipelines"], regions.get(context.cluster.region)
        known = pulumi.Output.all(host=database.host, bucket=context.storage.buckets["state"].name)
        config = known.apply(
            lambda names: configuration(
                namespace,
                self.settings,
                port=database.port,
                s3=f"s3.{region.name}.{region.dns_suffix}",
                region=region.name,
                **names,
            )
        )
        store = database.host.apply(lambda host: metadata(namespace, host=host, port=database.port))
        return {**operator(namespace).manifest("v1", "ConfigMap"), "data": {CONFIG: config, METADATA: store}}
