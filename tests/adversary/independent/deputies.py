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
    *(Request(act=f"lets KEDA be itself at {where}", manifest=authentication(podIdentity={"provider": provider}))
      for provider, where in (("aws", "AWS"), ("aws-eks", "AWS by its account"), ("gcp", "Google"),
                              ("azure-workload", "Azure"))),
    Request(act="lets KEDA take its own identity explicitly", manifest=authentication(podIdentity={
        "provider": "aws", "identityOwner": "keda"})),
    Request(act="lets KEDA show its token to another authority", manifest=authentication(podIdentity={
        "provider": "azure-workload", "identityId": "x", "identityTenantId": "y",
        "identityAuthorityHost": "https://login.example.com/"})),
    Request(act="reads AWS secrets as KEDA", manifest=authentication(awsSecretManager={
        "podIdentity": {"provider": "aws"}, "region": "us-east-1",
        "secrets": [{"parameter": "password", "name": "language/db"}]})),
    Request(act="reads Google's secrets as KEDA", manifest=authentication(gcpSecretManager={
        "podIdentity": {"provider": "gcp"}, "secrets": [{"parameter": "password", "id": "x"}]})),
    Request(act="reads a vault of Azure as KEDA", manifest=authentication(azureKeyVault={
        "vaultUri": "https://example.com", "podIdentity": {"provider": "azure-workload"},
        "secrets": [{"parameter": "password", "name": "x"}]})),
    Request(act="logs KEDA in at its own Vault with KEDA's token", manifest=authentication(hashiCorpVault={
        "address": "http://10.0.0.1:8200", "authentication": "kubernetes", "role": "x", "mount": "kubernetes",
        "credential": {"serviceAccount": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
        "secrets": [{"parameter": "token", "path": "x", "key": "y"}]})),
    Request(act="lets KEDA ask an address for a token of OAuth", manifest=authentication(oauth2={
        "type": "clientCredentials", "clientId": "x", "tokenUrl": CREDENTIALS,
        "clientSecret": {"valueFrom": {"secretKeyRef": {"name": "it", "key": "a"}}}})),
    Request(act="reads credentials from a file of KEDA", manifest=authentication(
        filePath="../../var/run/secrets/kubernetes.io/serviceaccount/token")),
    Request(act="gets a token of an account from KEDA", manifest=authentication(boundServiceAccountToken=[{
        "parameter": "bearerToken", "serviceAccountName": "workload"}])),
    Request(act="adds KEDA's identity to credentials later", method="PATCH", before=authentication(
        secretTargetRef=secret("token")), manifest=authentication(podIdentity={"provider": "aws"})),
    Request(act="replaces the role of credentials later", method="PATCH", before=authentication(
        podIdentity={"provider": "none"}), manifest=authentication(podIdentity={
            "provider": "aws", "roleArn": ROLE, "externalID": "x"})),
)  # fmt: skip

TRIGGERS: Final = (
    Request(act="uses credentials of all teams", manifest=triggered(
        "prometheus", {"name": "shared", "kind": "ClusterTriggerAuthentication"},
        serverAddress=OURS, query="up", threshold="1")),
    Request(act="lets KEDA's jobs use credentials of all teams", manifest=merged(make.scaled_job(), triggers=[{
        "type": "rabbitmq", "metadata": {"queueName": "x", "mode": "QueueLength", "value": "1"},
        "authenticationRef": {"name": "shared", "kind": "ClusterTriggerAuthentication"}}])),
    Request(act="hides the address that KEDA connects to in a Secret", manifest=authentication(
        secretTargetRef=secret("host"))),
    Request(act="hides the address that KEDA connects to in a variable", manifest=triggered(
        "postgresql", connectionFromEnv="CONNECTION", query="SELECT 1", targetQueryValue="1")),
    *(Request(act=f"lets KEDA ask {what}", manifest=triggered(kind, None, **metadata)) for what, kind, metadata in (
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
    Request(act="sends a header and a role with a query", manifest=of_prometheus(
        customHeaders="Authorization=Bearer x", awsRegion="us-east-1", identityOwner="operator")),
    Request(act="asks Prometheus by an address with a user", manifest=of_prometheus(
        serverAddress="http://prometheus.monitoring:9090@10.0.0.1/")),
    Request(act="asks Prometheus by an address with another end", manifest=of_prometheus(
        serverAddress="http://prometheus.monitoring.example.com:9090")),
    Request(act="asks another path of Prometheus", manifest=of_prometheus(
        serverAddress="http://prometheus.monitoring:9090/-/quit?x=")),
    Request(act="starts jobs by an address", manifest=started(
        "metrics-api", url=CREDENTIALS, valueLocation="x", targetValue="1")),
    Request(act="points a trigger elsewhere later", method="PATCH", before=of_prometheus(),
            manifest=triggered("prometheus", serverAddress=CREDENTIALS, query="up", threshold="1")),
    Request(act="scales a model by an address", manifest=measured("external", {
        "backend": "prometheus", "serverAddress": CREDENTIALS, "query": "up"})),
    Request(act="scales a model by credentials of KEDA", manifest=measured("external", {
        "backend": "prometheus", "serverAddress": "http://10.0.0.1", "query": "up"}, authenticationRef={
            "authModes": "bearer", "authenticationRef": {"name": "it"}})),
    Request(act="scales a model by an external scaler", manifest=measured("podmetric", {
        "backend": "opentelemetry", "serverAddress": "10.0.0.1:6000", "query": "x", "metricNames": ["x"]})),
    Request(act="gets an address scaled from KServe", actor="KServe", manifest=make.owned(triggered(
        "external", scalerAddress="10.0.0.1:6000", metricQuery="x", targetValue="1"))),
)  # fmt: skip

MONITORS: Final = (
    Request(act="shows the token of Prometheus", manifest=make.service_monitor(
        bearerTokenFile="/var/run/secrets/kubernetes.io/serviceaccount/token")),
    Request(act="scrapes through a proxy of its own", manifest=make.service_monitor(proxyUrl="http://10.0.0.1:3128")),
    Request(act="lets Prometheus ask an address for a token", manifest=make.service_monitor(oauth2={
        "clientId": {"secret": {"name": "it", "key": "a"}}, "clientSecret": {"name": "it", "key": "a"},
        "tokenUrl": CREDENTIALS})),
    Request(act="scrapes an address that a label map writes", manifest=relabelled({
        "action": "labelmap", "regex": "__meta_kubernetes_pod_annotation_(address)", "replacement": "__${1}__"})),
    Request(act="scrapes an address that a template names", manifest=relabelled({
        "sourceLabels": ["__meta_kubernetes_pod_annotation_target"], "regex": "(.*)", "targetLabel": "${1}",
        "replacement": "169.254.169.254:80"})),
    Request(act="scrapes an address in lower case", manifest=relabelled({
        "action": "Lowercase", "sourceLabels": ["__meta_kubernetes_pod_annotation_at"],
        "targetLabel": "__address__"})),
    Request(act="asks another path of a neighbour", manifest=relabelled({
        "targetLabel": "__metrics_path__", "replacement": "/admin/shutdown"}, {
            "targetLabel": "__param_x", "replacement": "1"}, {"targetLabel": "__scheme__", "replacement": "https"})),
    Request(act="forges the namespace by a label map", manifest=forged({
        "action": "labelmap", "regex": "mine_(.*)", "replacement": "$1"})),
    Request(act="forges the namespace by a template", manifest=forged({
        "sourceLabels": ["__name__"], "regex": ".*(namespace).*", "targetLabel": "$1",
        "replacement": "language-training"})),
    Request(act="takes the namespace of its metrics away", manifest=forged({
        "action": "labeldrop", "regex": "name.*"})),
    Request(act="copies another namespace from the labels of its Service", manifest=merged(
        make.service_monitor(), targetLabels=["namespace", "cluster"], jobLabel="job")),
    Request(act="takes the namespace of its targets away", manifest=relabelled({
        "action": "labeldrop", "regex": "name.*"})),
    Request(act="keeps no namespace of its targets", manifest=relabelled({
        "action": "labelkeep", "regex": "__.*|job|instance"})),
    Request(act="copies another namespace from the labels of its pods", manifest=thing(
        MONITORING, "PodMonitor", spec={"selector": {}, "podMetricsEndpoints": [{"port": "m"}],
                                        "podTargetLabels": ["namespace"]})),
    Request(act="says that its targets are those of the platform", manifest=relabelled({
        "targetLabel": "job", "replacement": "kube-state-metrics"})),
    Request(act="scrapes its pods through a proxy of its own", manifest=thing(
        MONITORING, "PodMonitor", spec={"selector": {}, "podMetricsEndpoints": [
            {"port": "m", "proxyUrl": "http://10.0.0.1", "proxyConnectHeader": {"x": [{"name": "it", "key": "a"}]}}]})),
    Request(act="scrapes its pods with a token from an address", manifest=thing(
        MONITORING, "PodMonitor", spec={"selector": {}, "podMetricsEndpoints": [{"port": "m", "oauth2": {
            "clientId": {"secret": {"name": "it", "key": "a"}}, "clientSecret": {"name": "it", "key": "a"},
            "tokenUrl": CREDENTIALS}}]})),
    Request(act="asks each second for a million series", manifest=merged(
        make.service_monitor(interval="1s", scrapeTimeout="1s"), sampleLimit=0)),
)  # fmt: skip

OTHERS: Final = (
    *(Request(act=f"reads artifacts of another team as the server of workflows, by {what}", manifest=make.workflow(
        kind, templates=[{"name": "x", "container": container(), "inputs": {"artifacts": [
            {"name": "a", "path": "/a", "optional": True, "s3": store}]}}]))
      for what, kind, store in (
          ("a key", "Workflow", {"key": "argo/language-training/train/x/main.log"}),
          ("a bucket", "WorkflowTemplate", {"bucket": "slipway-prod-storage-state", "useSDKCreds": True,
                                            "endpoint": "s3.amazonaws.com", "key": "argo/language-training/x"}))),
    Request(act="lets Argo publish metrics with a million labels", manifest=make.workflow(metrics={"prometheus": [{
        "name": "up", "help": "x", "labels": [{"key": "namespace", "value": "{{workflow.parameters.x}}"}],
        "gauge": {"value": "1", "realtime": False}}]})),
    Request(act="makes a token that never ends", manifest={**thing(
        "v1", "Secret", type="kubernetes.io/service-account-token"), "metadata": {"name": "it", "annotations": {
            "kubernetes.io/service-account.name": "workload"}}}),
    Request(act="gives Ray's head the account of the operator", manifest=ray_head(template={"spec": {
        "containers": [container(name="ray-head")], "serviceAccountName": "kuberay-operator"}})),
)  # fmt: skip

DEPUTIES: Final = (*AUTHENTICATIONS, *TRIGGERS, *MONITORS, *OTHERS)
