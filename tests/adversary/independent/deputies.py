"""What a member of a team tries to do with the identity or the network of a controller.

From KEDA 2.20.2 (apis/keda/v1alpha1 and pkg/scalers), KServe 0.20.0 (the reconciler of KEDA's objects), the Prometheus
operator's monitors, the artifact server of Argo Workflows and the token controller of Kubernetes.
"""

from typing import Any, Final

from tests.adversary.independent.work import ray_head
from tests.adversary.objects import annotated, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import container

CREDENTIALS: Final = "http://169.254.170.23/v1/credentials"
ROLE: Final = "arn:aws:iam::444455556666:role/karpenter"
OURS: Final = "http://prometheus.monitoring:9090"


def authentication(**body: Any) -> Object:
    return thing("keda.sh/v1alpha1", "TriggerAuthentication", spec=body)


def triggered(kind: str, reference: Object | None = None, **metadata: Any) -> Object:
    trigger = {"type": kind, "metadata": metadata, **({"authenticationRef": reference} if reference else {})}
    return make.scaled_object(maxReplicaCount=2, triggers=[trigger])


def of_prometheus(**metadata: Any) -> Object:
    return triggered("prometheus", None, **{"serverAddress": OURS, "query": "up", "threshold": "1", **metadata})


def secret(parameter: str) -> list[Object]:
    return [{"parameter": parameter, "name": "it", "key": "a"}]


def measured(source: str, metric: Object, **more: Any) -> Object:
    """A model that KServe scales with KEDA."""
    scaling = {"metrics": [{"type": source.title() if source == "external" else "PodMetric", source: {
        "metric": metric, "target": {"type": "Value", "value": "1"}, **more}}]}  # fmt: skip
    return annotated(
        make.inference_service(model={}, minReplicas=1, maxReplicas=2, autoScaling=scaling),
        **{"serving.kserve.io/autoscalerClass": "keda"},
    )


def relabelled(*rules: Object, **endpoint: Any) -> Object:
    return make.service_monitor(relabelings=list(rules), **endpoint)


AUTHENTICATIONS: Final = (
    Request("adds KEDA's identity to credentials later", authentication(podIdentity={"provider": "aws"}),
        method="PATCH", before=authentication(secretTargetRef=secret("token"))),
    Request("replaces the role of credentials later",
        authentication(podIdentity={"provider": "aws", "roleArn": ROLE, "externalID": "x"}), method="PATCH",
        before=authentication(podIdentity={"provider": "none"})),
)  # fmt: skip

TRIGGERS: Final = (
    Request("hides the address that KEDA connects to in a Secret", authentication(secretTargetRef=secret("host"))),
    Request("points a trigger elsewhere later",
        triggered("prometheus", serverAddress=CREDENTIALS, query="up", threshold="1"), method="PATCH",
        before=of_prometheus()),
    Request("scales a model by an address",
        measured("external", {"backend": "prometheus", "serverAddress": CREDENTIALS, "query": "up"})),
    Request("scales a model by credentials of KEDA", measured("external",
            {"backend": "prometheus", "serverAddress": "http://10.0.0.1", "query": "up"},
            authenticationRef={"authModes": "bearer", "authenticationRef": {"name": "it"}})),
    Request("scales a model by an external scaler", measured("podmetric",
            {"backend": "opentelemetry", "serverAddress": "10.0.0.1:6000", "query": "x", "metricNames": ["x"]})),
    Request("gets an address scaled from KServe",
        make.owned(triggered("external", scalerAddress="10.0.0.1:6000", metricQuery="x", targetValue="1")),
        actor="KServe"),
)  # fmt: skip

MONITORS: Final = (
    Request("shows the token of Prometheus",
        make.service_monitor(bearerTokenFile="/var/run/secrets/kubernetes.io/serviceaccount/token")),
    Request("scrapes an address in lower case", relabelled({"action": "Lowercase",
                "sourceLabels": ["__meta_kubernetes_pod_annotation_at"], "targetLabel": "__address__"})),
)  # fmt: skip

OTHERS: Final = (
    *(Request(f"reads artifacts of another team as the server of workflows, by {what}", make.workflow(kind, templates=[{
                    "name": "x", "container": container(),
                    "inputs": {"artifacts": [{"name": "a", "path": "/a", "optional": True, "s3": store}]}}]))
      for what, kind, store in (
          ("a key", "Workflow", {"key": "argo/language-training/train/x/main.log"}),
          ("a bucket", "WorkflowTemplate", {"bucket": "slipway-prod-storage-state", "useSDKCreds": True,
                                            "endpoint": "s3.amazonaws.com", "key": "argo/language-training/x"}))),
    Request("lets Argo publish metrics with a million labels", make.workflow(metrics={"prometheus": [{"name": "up",
                        "help": "x", "labels": [{"key": "namespace", "value": "{{workflow.parameters.x}}"}],
                        "gauge": {"value": "1", "realtime": False}}]})),
    Request("makes a token that never ends", {**thing("v1", "Secret", type="kubernetes.io/service-account-token"),
            "metadata": {"name": "it", "annotations": {"kubernetes.io/service-account.name": "workload"}}}),
    Request("gives Ray's head the account of the operator", ray_head(template={
                "spec": {"containers": [container(name="ray-head")], "serviceAccountName": "kuberay-operator"}})),
)  # fmt: skip

DEPUTIES: Final = (*AUTHENTICATIONS, *TRIGGERS, *MONITORS, *OTHERS)
