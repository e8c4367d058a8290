"""What a namespace with a server of Kubeflow Pipelines has for it: permissions of the server, names by which its runs
reach it, and the root of their artifacts.

The server runs in a namespace of the platform, because its pod has the password of a database that all servers share.
Its runs are in the namespace of the team, so that quota, queue, admission and permissions in AWS are the team's.
"""

from typing import Any

import pulumi

from components.base.operator import RBAC, object_of, rule, to_account
from components.tenancy.roles import role_for
from spec.teams import pipelines


def server_role() -> dict[str, Any]:
    """Permissions of a server: those of upstream's three accounts (manifests/kustomize/base/pipeline, 2.17.0), without
    verbs and reviews that mode multi-user alone evaluates, and without its plugin for MLflow."""
    rules = [
        rule("", ["pods", "pods/log"], ("delete", "get", "list")),
        rule("", ["events"], ("create", "patch")),
        rule("argoproj.io", ["workflows"], ("create", "delete", "get", "list", "patch", "update", "watch")),
        rule("kubeflow.org", ["scheduledworkflows"], ("create", "delete", "get", "list", "patch", "update", "watch")),
        rule("kubeflow.org", ["scheduledworkflows/finalizers"], ("update",)),
    ]
    return role_for(pipelines.ROLE, rules)


def steps_role() -> dict[str, Any]:
    """Permissions of driver and launcher: each reads the root of artifacts and its own pod (2.17.0, backend/src/v2:
    config/env.go, driver/k8s.go, component/launcher_v2.go). Upstream's `pipeline-runner` may do anything to pods,
    volumes, Deployments and Jobs, for components that create them."""
    rules = [
        {**rule("", ["configmaps"], ("get",)), "resourceNames": [pipelines.LAUNCHER]},
        rule("", ["pods"], ("get",)),
    ]
    return role_for(pipelines.STEPS, rules)


def access(namespace: str, service_account: str) -> dict[str, dict[str, Any]]:
    """Bindings in a namespace, by the suffix of their logical name.

    Args:
        namespace: The namespace.
        service_account: That of its steps.
    """
    bindings = {
        "pipelines-binding": (pipelines.ROLE, pipelines.server(namespace), pipelines.NAMESPACE),
        "pipelines-steps-binding": (pipelines.STEPS, service_account, namespace),
    }
    return {
        key: object_of(f"{RBAC}/v1", "RoleBinding", role, namespace, **to_account(role, account, home))
        for key, (role, account, home) in bindings.items()
    }


def ways(namespace: str, bucket: pulumi.Input[str], region: str) -> dict[str, dict[str, Any]]:
    """What leads runs and clients in a namespace to its server and its artifacts, by the suffix of their logical name.

    Args:
        namespace: The namespace.
        bucket: Bucket of artifacts.
        region: AWS Region.
    """
    services = {
        alias: object_of(
            "v1", "Service", alias, namespace, spec={"type": "ExternalName", "externalName": pipelines.host(namespace)}
        )
        for alias in pipelines.ALIASES
    }
    return {**services, pipelines.LAUNCHER: _launcher(namespace, bucket, region)}


def _launcher(namespace: str, bucket: pulumi.Input[str], region: str) -> dict[str, Any]:
    """The root of artifacts. A query in it lets driver and launcher take credentials from the pod, as EKS Pod Identity
    gives them (backend/src/v2/config/s3.go, `ProvideSessionInfo`; gocloud.dev/blob/s3blob, `region`; 2.17.0)."""
    root = pulumi.Output.format("s3://{0}/{1}?region={2}", bucket, pipelines.prefix(namespace), region)
    return object_of("v1", "ConfigMap", pipelines.LAUNCHER, namespace, data={"defaultPipelineRoot": root})
