"""Katib: Experiments of `kubeflow.org/v1beta1`, which search for hyperparameters by trials that are jobs (kubeflow.org,
"Katib").

Its project publishes kustomize YAML and no chart. Names of objects, ports, labels, permissions, images and
configuration are those of manifests/v1beta1 (github.com/kubeflow/katib, v0.19.0), with cert-manager and two replicas.
Left out is its UI, which shows and deletes the Experiments of all teams to whoever reaches it, and what a trial needs
that the rules of experiments refuse (`components.admission.experiments`, ADR 0165).
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import yaml

from components.addons import images
from components.base.addon import AddOn, AddOnContext, AddOnFacts, Parts
from components.base.operator import ALL, Operator, custom_resource, rule
from components.base.placement import keeps_one, sized
from components.tenancy.network_policies import KATIB, KATIB_CONTROLLER, KATIB_DATABASE, KATIB_PORT
from spec.catalog.software import MANIFESTS
from spec.settings.addons import Addons, AddonSettings, batch
from spec.settings.addons.batch import Katib as Settings
from spec.teams import labels

VERSION: Final = "v1beta1"
GROUP: Final = "kubeflow.org"
NAME: Final = "katib-controller"
CONTROLLER: Final = Operator(NAME, KATIB, KATIB_CONTROLLER)
DATABASE: Final = Operator("katib-db-manager", KATIB, KATIB_DATABASE)
CONFIG: Final = "katib-config"
CERTIFICATE: Final = "katib-webhook-cert"
ISSUER: Final = "katib-selfsigned-issuer"
WEBHOOK_PORT: Final = 8443
HEALTH_PORT: Final = 18080
METRICS_PORT: Final = 8080

COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "Experiment": {},
    "Suggestion": {"Requested": ".spec.requests", "Assigned": ".status.suggestionCount"},
    "Trial": {},
}
"""Kinds, with the columns that only they have."""
TRIALS: Final[Mapping[str, type[AddonSettings] | None]] = {
    "Job.v1.batch": None,
    "TrainJob.v1alpha1.trainer.kubeflow.org": batch.Trainer,
    "MPIJob.v2beta1.kubeflow.org": batch.MpiOperator,
    **{f"{kind}.v1.kubeflow.org": batch.TrainingOperator for kind in ("PyTorchJob", "TFJob", "XGBoostJob")},
}
"""Kinds of trials, with the add-on that each comes with; MPIJob of the version that the platform has."""
ALGORITHMS: Final[Mapping[str, str]] = {
    "bayesianoptimization": "skopt",
    "cmaes": "goptuna",
    "grid": "optuna",
    "hyperband": "hyperband",
    "multivariate-tpe": "optuna",
    "random": "hyperopt",
    "sobol": "goptuna",
    "tpe": "hyperopt",
}
"""Image of each algorithm. Without those for architectures (enas, darts), whose parameters are JSON, and without pbt,
which needs a volume."""
_USER: Final = 1000
"""User of all containers. PostgreSQL's image has it from nss_wrapper (github.com/docker-library/postgres#1018)."""
_RESTRICTED: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": _USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_DATA: Final = "/var/lib/postgresql/data"
_SCRATCH: Final = ("/tmp", "/var/run/postgresql")  # noqa: S108 - paths in a container


def definition(kind: str) -> dict[str, Any]:
    """The CRD of a kind. Upstream types none of its fields: its webhook validates Experiments."""
    columns = {"Type": ".status.conditions[-1:].type", "Status": ".status.conditions[-1:].status", **COLUMNS[kind]}
    names = {
        "kind": kind,
        "singular": kind.lower(),
        "plural": f"{kind.lower()}s",
        "categories": ["all", "kubeflow", "katib"],
    }
    untyped = {"x-kubernetes-preserve-unknown-fields": True}
    return custom_resource(GROUP, VERSION, names, untyped, columns, subresources={"status": {}})


def trial_kinds(addons: Addons) -> list[str]:
    """The kinds of trials that a stack serves."""
    operator = addons.training_operator
    named = operator.kinds if operator is not None else ()
    return [
        name
        for name, addon in TRIALS.items()
        if addon is None or (name.partition(".")[0] in named if addon is batch.TrainingOperator else addons.has(addon))
    ]


def configuration(kinds: list[str], through: Mapping[str, str]) -> str:
    """`katib-config.yaml`. Its images are those of the pods of teams, so they come through the caches too."""

    def image(name: str) -> str:
        return images.cached(MANIFESTS["katib"].image.replace(NAME, name), through)

    files = {"image": image("file-metrics-collector")}
    config = {
        "apiVersion": "config.kubeflow.org/v1beta1",
        "kind": "KatibConfig",
        "init": {
            "controller": {
                "webhookPort": WEBHOOK_PORT,
                "enableLeaderElection": True,
                # The collector beside a trial gets the security context of the trial's first container: without one,
                # namespaces that enforce `restricted` refuse the pod.
                "injectSecurityContext": True,
                "trialResources": kinds,
            }
        },
        "runtime": {
            "metricsCollectors": [
                {"kind": "StdOut", **files},
                {"kind": "File", **files},
                {
                    "kind": "TensorFlowEvent",
                    "image": image("tfevent-metrics-collector"),
                    "resources": {"limits": {"memory": "1Gi"}},
                },
            ],
            "suggestions": [
                {"algorithmName": name, "image": image(f"suggestion-{service}"), "securityContext": _RESTRICTED}
                for name, service in ALGORITHMS.items()
            ],
            "earlyStoppings": [{"algorithmName": "medianstop", "image": image("earlystopping-medianstop")}],
        },
    }
    return str(yaml.safe_dump(config, sort_keys=False))


def access() -> dict[str, dict[str, Any]]:
    """Service account, ClusterRole and ClusterRoleBinding.

    Upstream's rules without Secrets and webhook configurations, which only its own management of certificates needs;
    without volumes, and without CronJobs and `pods/status`.
    """
    made = ("create", "delete", "get", "list", "watch")
    rules = [
        rule("", ["services"], made),
        rule("", ["events"], ("create", "patch", "update")),
        # An early stopping service may change the trials of its namespace, and nothing else.
        rule("", ["serviceaccounts"], ("create", "get", "list", "watch")),
        rule("rbac.authorization.k8s.io", ["roles", "rolebindings"], ("create", "get", "list", "watch")),
        rule("", ["configmaps", "namespaces", "persistentvolumeclaims"], ("get", "list", "watch")),
        rule("", ["pods"], ("get",)),
        rule("apps", ["deployments"], made),
        rule("batch", ["jobs"], made),
        rule("jobset.x-k8s.io", ["jobsets"], ("get", "list", "watch")),
        rule("trainer.kubeflow.org", ["trainjobs"], made),
        rule(GROUP, ["mpijobs", "pytorchjobs", "tfjobs", "xgboostjobs"], made),
        # All verbs by their wildcard: nobody may make a role that allows more than its own, and upstream's for an early
        # stopping service has one.
        rule(GROUP, [f"{kind.lower()}s{part}" for kind in COLUMNS for part in ("", "/finalizers", "/status")], ["*"]),
        rule("coordination.k8s.io", ["leases"], ALL),
    ]
    return CONTROLLER.access(rules)


def ingress() -> dict[str, Any]:
    """Who reaches the metrics of all trials: the controller, and the pods of teams, which report theirs."""
    sources = [
        {"podSelector": {"matchLabels": dict(KATIB_CONTROLLER)}},
        {"namespaceSelector": {"matchExpressions": [{"key": labels.TEAM, "operator": "Exists"}]}},
    ]
    return {
        **DATABASE.manifest("networking.k8s.io/v1", "NetworkPolicy"),
        "spec": {
            "podSelector": {"matchLabels": dict(KATIB_DATABASE)},
            "policyTypes": ["Ingress"],
            "ingress": [{"from": sources, "ports": [{"protocol": "TCP", "port": KATIB_PORT}]}],
        },
    }


def service(operator: Operator, **ports: tuple[int, int]) -> dict[str, Any]:
    """A Service with these ports, each with that of the pods."""
    listed = [
        {"name": name, "port": port, "targetPort": target, "protocol": "TCP"} for name, (port, target) in ports.items()
    ]
    return {
        **operator.manifest("v1", "Service"),
        "spec": {"ports": listed, "selector": dict(operator.labels), "type": "ClusterIP"},
    }


def certificate() -> dict[str, dict[str, Any]]:
    """The webhooks' certificate, from cert-manager, which also gives it to the webhooks."""
    host = f"{NAME}.{KATIB}.svc"
    issuer = CONTROLLER.manifest("cert-manager.io/v1", "Issuer", name=ISSUER)
    issued = CONTROLLER.manifest("cert-manager.io/v1", "Certificate", name=CERTIFICATE)
    spec = {
        "isCA": True,
        "commonName": host,
        "dnsNames": [host, f"{host}.cluster.local"],
        "issuerRef": {"kind": "Issuer", "name": ISSUER},
        "secretName": CERTIFICATE,
    }
    return {"issuer": {**issuer, "spec": {"selfSigned": {}}}, "certificate": {**issued, "spec": spec}}


def deployment(settings: Settings, config: str, *, placement: Mapping[str, Any]) -> dict[str, Any]:
    """The controller. It reads a part of its configuration at its start, so another one restarts it."""
    container = {
        "image": MANIFESTS["katib"].image,
        "command": ["./katib-controller"],
        "args": ["--katib-config=/katib-config.yaml"],
        "env": [{"name": "KATIB_CORE_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}],
        "ports": [
            {"name": "webhook", "containerPort": WEBHOOK_PORT, "protocol": "TCP"},
            {"name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP"},
            {"name": "healthz", "containerPort": HEALTH_PORT, "protocol": "TCP"},
        ],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "healthz"}},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "healthz"}},
        "volumeMounts": [
            {"name": "cert", "mountPath": "/tmp/cert", "readOnly": True},  # noqa: S108
            {
                "name": "katib-config",
                "mountPath": "/katib-config.yaml",
                "subPath": "katib-config.yaml",
                "readOnly": True,
            },
        ],
        "securityContext": _RESTRICTED,
    }
    volumes = [
        {"name": "cert", "secret": {"secretName": CERTIFICATE, "defaultMode": 420}},
        {"name": "katib-config", "configMap": {"name": CONFIG}},
    ]
    made = CONTROLLER.deployment(container, replicas=settings.replicas, placement=placement, volumes=volumes)
    notes = {"checksum/config": hashlib.sha256(config.encode()).hexdigest()}
    made["spec"]["template"]["metadata"]["annotations"] = notes
    return made


def database(settings: Settings, *, placement: Mapping[str, Any]) -> dict[str, Any]:
    """The manager of the metrics, with the database beside it in the pod: nothing else reaches it, so it has no
    password (ADR 0165)."""
    postgres = {
        "name": "postgres",
        "image": MANIFESTS["postgres"].image,
        # A sidecar: the manager starts once it answers (kubernetes.io, "Sidecar Containers", stable since 1.33).
        "restartPolicy": "Always",
        "args": ["-c", "listen_addresses=127.0.0.1"],
        "env": [
            {"name": "POSTGRES_USER", "value": "katib"},
            {"name": "POSTGRES_DB", "value": "katib"},
            {"name": "POSTGRES_HOST_AUTH_METHOD", "value": "trust"},
            # The volume has a folder lost+found, and PostgreSQL needs an empty one.
            {"name": "PGDATA", "value": f"{_DATA}/pgdata"},
        ],
        # While it makes the database it listens on no address.
        "startupProbe": {
            "exec": {"command": ["pg_isready", "-h", "127.0.0.1", "-U", "katib"]},
            "periodSeconds": 2,
            "failureThreshold": 60,
        },
        "resources": sized("50m", "256Mi"),
        "securityContext": {**_RESTRICTED, "readOnlyRootFilesystem": True},
        "volumeMounts": [
            {"name": "data", "mountPath": _DATA},
            *({"name": "scratch", "mountPath": path, "subPath": path.rpartition("/")[2]} for path in _SCRATCH),
        ],
    }
    manager = {
        "name": DATABASE.name,
        "image": MANIFESTS["katib"].image.replace(NAME, DATABASE.name),
        "command": ["./katib-db-manager"],
        "env": [
            {"name": "DB_NAME", "value": "postgres"},
            {"name": "KATIB_POSTGRESQL_DB_HOST", "value": "127.0.0.1"},
            # An empty password in a connection string (pkg/db/v1beta1/postgres, getDbName).
            {"name": "DB_PASSWORD", "value": "''"},
        ],
        "ports": [{"name": "api", "containerPort": KATIB_PORT, "protocol": "TCP"}],
        "readinessProbe": {"grpc": {"port": KATIB_PORT}},
        "livenessProbe": {
            "grpc": {"port": KATIB_PORT},
            "initialDelaySeconds": 10,
            "periodSeconds": 60,
            "failureThreshold": 5,
        },
        "resources": sized("50m", "128Mi"),
        "securityContext": {**_RESTRICTED, "readOnlyRootFilesystem": True},
    }
    pod = {
        "automountServiceAccountToken": False,
        "securityContext": {"fsGroup": _USER, "fsGroupChangePolicy": "OnRootMismatch"},
        "initContainers": [postgres],
        "containers": [manager],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        **placement,
    }
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": f"{settings.storage_gib}Gi"}}}
    return {
        **DATABASE.manifest("apps/v1", "StatefulSet"),
        "spec": {
            "replicas": 1,
            "serviceName": DATABASE.name,
            "selector": {"matchLabels": dict(DATABASE.labels)},
            "template": {"metadata": {"labels": dict(DATABASE.labels)}, "spec": pod},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
        },
    }


def _webhook(
    name: str, path: str, group: str, versions: list[str], resources: list[str], **more: Any
) -> dict[str, Any]:
    creates_alone = resources == ["pods"]
    return {
        "name": f"{name}.katib.kubeflow.org",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
        "clientConfig": {"service": {"name": NAME, "namespace": KATIB, "path": path}},
        "rules": [
            {
                "apiGroups": [group],
                "apiVersions": versions,
                "operations": ["CREATE"] if creates_alone else ["CREATE", "UPDATE"],
                "resources": resources,
            }
        ],
        **more,
    }


def webhooks() -> dict[str, dict[str, Any]]:
    """Experiments are validated and completed; pods of trials get the collector of their metrics.

    That of pods sees only those that a job owns: it fails closed, and no server or notebook should wait for Katib.
    """
    of_jobs = (
        "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, "
        f"o.kind in {sorted({kind.split('.')[0] for kind in TRIALS} - {'TrainJob'})})"
    )
    checks = {
        "ValidatingWebhookConfiguration": [
            _webhook("validator.experiment", "/validate-experiment", GROUP, [VERSION], ["experiments"])
        ],
        "MutatingWebhookConfiguration": [
            _webhook("defaulter.experiment", "/mutate-experiment", GROUP, [VERSION], ["experiments"]),
            _webhook(
                "mutator.pod",
                "/mutate-pod",
                "",
                ["v1"],
                ["pods"],
                namespaceSelector={"matchLabels": dict(labels.TUNED)},
                matchConditions=[{"name": "pods-of-jobs", "expression": of_jobs}],
            ),
        ],
    }
    found = {}
    for kind, listed in checks.items():
        one = CONTROLLER.manifest("admissionregistration.k8s.io/v1", kind, name="katib.kubeflow.org", namespaced=False)
        one["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": f"{KATIB}/{CERTIFICATE}"}
        found[f"webhooks-{kind[:-20].lower()}"] = {**one, "webhooks": listed}
    return found


class Katib(AddOn[Settings]):
    """CRDs, controller, webhooks, and the manager of the metrics with its database.

    Its controller makes jobs of what a member writes. It is not among the controllers whose parent the rules vouch for:
    they judge each trial as its member's own job.
    """

    name = "katib"
    software = MANIFESTS["katib"]

    def boundaries(self, _facts: AddOnFacts) -> Mapping[str, Mapping[str, Any]]:
        """Those of the controller, and who reaches the metrics."""
        return {**access(), "ingress": ingress()}

    def parts(self, context: AddOnContext) -> Parts:
        """Only manifests, no release."""
        config = configuration(trial_kinds(context.addons), images.through(context))
        crds = {f"crd-{kind.lower()}s": definition(kind) for kind in COLUMNS}
        held = CONTROLLER.manifest("v1", "ConfigMap", name=CONFIG)
        webhook, metrics, health = (443, WEBHOOK_PORT), (METRICS_PORT, METRICS_PORT), (HEALTH_PORT, HEALTH_PORT)
        return Parts(
            before={
                **crds,
                **self.boundaries(context),
                "config": {**held, "data": {"katib-config.yaml": config}},
                "service": service(CONTROLLER, webhook=webhook, metrics=metrics, healthz=health),
                "database-service": service(DATABASE, api=(KATIB_PORT, KATIB_PORT)),
            },
            objects={
                **certificate(),
                "controller": deployment(self.settings, config, placement=context.placement),
                "database": database(self.settings, placement=context.placement),
                **webhooks(),
                **({"budget": CONTROLLER.budget()} if keeps_one(self.settings.replicas) else {}),
            },
            volumes=True,
        )
