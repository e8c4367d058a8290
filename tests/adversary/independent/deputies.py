"""What a member of a team tries to do with the identity or the network of a controller.

From KEDA 2.20.2 (apis/keda/v1alpha1 and pkg/scalers), KServe 0.20.0 (the reconciler of KEDA's objects), the Prometheus
operator's monitors, the artifact server of Argo Workflows and the token controller of Kubernetes.
"""

from typing import Any, Final

from tests.adversary.independent.work import merged, ray_head
from tests.adversary.objects import annotated, thing
from tests.adversary.probe import Object, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import container

CREDENTIALS: Final = "http://169.254.170.23/v1/credentials"
ROLE: Final = "arn:aws:iam::444455556666:role/karpenter"
OURS: Final = "http://prometheus.monitoring:9090"
MONITORING: Final = "monitoring.coreos.com/v1"


def authentication(**body: Any) -> Object:
    return thing("keda.sh/v1alpha1", "TriggerAuthentication", spec=body)


def triggered(kind: str, reference: Object | None = None, **metadata: Any) -> Object:
    trigger = {"type": kind, "metadata": metadata, **({"authenticationRef": reference} if reference else {})}
    return make.scaled_object(maxReplicaCount=2, triggers=[trigger])


def started(kind: str, **metadata: str) -> Object:
    """Jobs that KEDA starts by a trigger."""
    return merged(make.scaled_job(), triggers=[{"type": kind, "metadata": metadata}])


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


def forged(*rules: Object) -> Object:
    return make.service_monitor(metricRelabelings=list(rules))


AUTHENTICATIONS: Final = (
    *(Request(f"lets KEDA be itself at {where}", authentication(podIdentity={"provider": provider}))
      for provider, where in (("aws", "AWS"), ("aws-eks", "AWS by its account"), ("gcp", "Google"),
                              ("azure-workload", "Azure"))),
    Request("lets KEDA take its own identity explicitly",
        authentication(podIdentity={"provider": "aws", "identityOwner": "keda"})),
    Request("lets KEDA show its token to another authority", authentication(podIdentity={"provider": "azure-workload",
                "identityId": "x", "identityTenantId": "y", "identityAuthorityHost": "https://login.example.com/"})),
    Request("reads AWS secrets as KEDA", authentication(awsSecretManager={"podIdentity": {"provider": "aws"},
                "region": "us-east-1", "secrets": [{"parameter": "password", "name": "language/db"}]})),
    Request("reads Google's secrets as KEDA", authentication(
            gcpSecretManager={"podIdentity": {"provider": "gcp"}, "secrets": [{"parameter": "password", "id": "x"}]})),
    Request("reads a vault of Azure as KEDA", authentication(azureKeyVault={"vaultUri": "https://example.com",
                "podIdentity": {"provider": "azure-workload"}, "secrets": [{"parameter": "password", "name": "x"}]})),
    Request("logs KEDA in at its own Vault with KEDA's token", authentication(hashiCorpVault={
                "address": "http://10.0.0.1:8200", "authentication": "kubernetes", "role": "x", "mount": "kubernetes",
                "credential": {"serviceAccount": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
                "secrets": [{"parameter": "token", "path": "x", "key": "y"}]})),
    Request("lets KEDA ask an address for a token of OAuth", authentication(oauth2={"type": "clientCredentials",
                "clientId": "x", "tokenUrl": CREDENTIALS,
                "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "it", "key": "a"}}}})),
    Request("reads credentials from a file of KEDA",
        authentication(filePath="../../var/run/secrets/kubernetes.io/serviceaccount/token")),
    Request("gets a token of an account from KEDA",
        authentication(boundServiceAccountToken=[{"parameter": "bearerToken", "serviceAccountName": "workload"}])),
    Request("adds KEDA's identity to credentials later", authentication(podIdentity={"provider": "aws"}),
        method="PATCH", before=authentication(secretTargetRef=secret("token"))),
    Request("replaces the role of credentials later",
        authentication(podIdentity={"provider": "aws", "roleArn": ROLE, "externalID": "x"}), method="PATCH",
        before=authentication(podIdentity={"provider": "none"})),
)  # fmt: skip

TRIGGERS: Final = (
    Request("uses credentials of all teams", triggered("prometheus",
            {"name": "shared", "kind": "ClusterTriggerAuthentication"}, serverAddress=OURS, query="up",
            threshold="1")),
    Request("lets KEDA's jobs use credentials of all teams", merged(make.scaled_job(), triggers=[{"type": "rabbitmq",
                    "metadata": {"queueName": "x", "mode": "QueueLength", "value": "1"},
                    "authenticationRef": {"name": "shared", "kind": "ClusterTriggerAuthentication"}}])),
    Request("hides the address that KEDA connects to in a Secret", authentication(secretTargetRef=secret("host"))),
    Request("hides the address that KEDA connects to in a variable",
        triggered("postgresql", connectionFromEnv="CONNECTION", query="SELECT 1", targetQueryValue="1")),
    *(Request(f"lets KEDA ask {what}", triggered(kind, None, **metadata)) for what, kind, metadata in (
        ("Prometheus of somebody", "prometheus", {
            "serverAddress": "http://10.0.0.1:9090", "query": "up", "threshold": "1"}),
        ("a service of another team", "prometheus", {
            "serverAddress": "http://it.language-training.svc:9090", "query": "up", "threshold": "1"}),
        ("Loki of another team", "loki", {
            "serverAddress": "http://loki.language-training:3100", "query": "x", "threshold": "1"}),
        ("Graphite", "graphite", {"serverAddress": CREDENTIALS, "query": "x", "threshold": "1", "queryTime": "-1m"}),
        ("an external scaler", "external", {"scalerAddress": "10.0.0.1:6000"}),
        ("an external scaler that pushes", "external-push", {"scalerAddress": "10.0.0.1:6000"}),
        ("the store of the cluster", "etcd", {"endpoints": "https://10.0.0.1:2379", "watchKey": "/", "value": "1"}),
        ("a Redis of another team", "redis", {"address": "redis.language-training:6379", "listName": "x"}),
        ("a broker with KEDA's identity", "kafka", {
            "bootstrapServers": "10.0.0.1:9092", "topic": "x", "consumerGroup": "x", "sasl": "aws_msk_iam"}),
        ("CloudWatch at another endpoint", "aws-cloudwatch", {
            "awsEndpoint": "http://10.0.0.1", "expression": "x", "targetMetricValue": "1", "awsRegion": "us-east-1",
            "minMetricValue": "0", "identityOwner": "operator"}),
        ("the Kubernetes API for metrics", "metrics-api", {
            "url": "https://kubernetes.default.svc/api/v1/namespaces/kube-system/secrets", "valueLocation": "x",
            "targetValue": "1", "authMode": "bearer"}),
        ("a repository of somebody", "github-runner", {
            "githubApiURL": "http://10.0.0.1", "owner": "x", "runnerScope": "org"}),
        ("a workflow engine", "temporal", {"endpoint": "10.0.0.1:7233", "taskQueue": "x"}),
        ("a table of AWS as itself", "aws-dynamodb", {"awsRegion": "us-east-1", "tableName": "language",
                                                      "identityOwner": "operator", "targetValue": "1"}))),
    Request("sends a header and a role with a query",
        of_prometheus(customHeaders="Authorization=Bearer x", awsRegion="us-east-1", identityOwner="operator")),
    Request("asks Prometheus by an address with a user",
        of_prometheus(serverAddress="http://prometheus.monitoring:9090@10.0.0.1/")),
    Request("asks Prometheus by an address with another end",
        of_prometheus(serverAddress="http://prometheus.monitoring.example.com:9090")),
    Request("asks another path of Prometheus",
        of_prometheus(serverAddress="http://prometheus.monitoring:9090/-/quit?x=")),
    Request("starts jobs by an address", started("metrics-api", url=CREDENTIALS, valueLocation="x", targetValue="1")),
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
    Request("scrapes through a proxy of its own", make.service_monitor(proxyUrl="http://10.0.0.1:3128")),
    Request("lets Prometheus ask an address for a token", make.service_monitor(oauth2={
                "clientId": {"secret": {"name": "it", "key": "a"}}, "clientSecret": {"name": "it", "key": "a"},
                "tokenUrl": CREDENTIALS})),
    Request("scrapes an address that a label map writes", relabelled(
            {"action": "labelmap", "regex": "__meta_kubernetes_pod_annotation_(address)", "replacement": "__${1}__"})),
    Request("scrapes an address that a template names", relabelled({
                "sourceLabels": ["__meta_kubernetes_pod_annotation_target"], "regex": "(.*)", "targetLabel": "${1}",
                "replacement": "169.254.169.254:80"})),
    Request("scrapes an address in lower case", relabelled({"action": "Lowercase",
                "sourceLabels": ["__meta_kubernetes_pod_annotation_at"], "targetLabel": "__address__"})),
    Request("asks another path of a neighbour", relabelled(
            {"targetLabel": "__metrics_path__", "replacement": "/admin/shutdown"},
            {"targetLabel": "__param_x", "replacement": "1"}, {"targetLabel": "__scheme__", "replacement": "https"})),
    Request("forges the namespace by a label map",
        forged({"action": "labelmap", "regex": "mine_(.*)", "replacement": "$1"})),
    Request("forges the namespace by a template", forged({"sourceLabels": ["__name__"], "regex": ".*(namespace).*",
                "targetLabel": "$1", "replacement": "language-training"})),
    Request("takes the namespace of its metrics away", forged({"action": "labeldrop", "regex": "name.*"})),
    Request("copies another namespace from the labels of its Service",
        merged(make.service_monitor(), targetLabels=["namespace", "cluster"], jobLabel="job")),
    Request("takes the namespace of its targets away", relabelled({"action": "labeldrop", "regex": "name.*"})),
    Request("keeps no namespace of its targets", relabelled({"action": "labelkeep", "regex": "__.*|job|instance"})),
    Request("copies another namespace from the labels of its pods", thing(MONITORING, "PodMonitor",
            spec={"selector": {}, "podMetricsEndpoints": [{"port": "m"}], "podTargetLabels": ["namespace"]})),
    Request("says that its targets are those of the platform",
        relabelled({"targetLabel": "job", "replacement": "kube-state-metrics"})),
    Request("scrapes its pods through a proxy of its own", thing(MONITORING, "PodMonitor", spec={"selector": {},
                "podMetricsEndpoints": [{"port": "m", "proxyUrl": "http://10.0.0.1",
                        "proxyConnectHeader": {"x": [{"name": "it", "key": "a"}]}}]})),
    Request("scrapes its pods with a token from an address", thing(MONITORING, "PodMonitor", spec={"selector": {},
                "podMetricsEndpoints": [{"port": "m", "oauth2": {"clientId": {"secret": {"name": "it", "key": "a"}},
                            "clientSecret": {"name": "it", "key": "a"}, "tokenUrl": CREDENTIALS}}]})),
    Request("asks each second for a million series",
        merged(make.service_monitor(interval="1s", scrapeTimeout="1s"), sampleLimit=0)),
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
