"""An application on the cluster of another program, with a certificate, a function and files."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

cluster, auth = aws.eks.get_cluster(name="lab"), aws.eks.get_cluster_auth(name="lab")
kubeconfig = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "lab",
    "clusters": [
        {
            "name": "lab",
            "cluster": {
                "server": cluster.endpoint,
                "certificate-authority-data": cluster.certificate_authorities[0].data,
            },
        }
    ],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
    "users": [{"name": "lab", "user": {"token": auth.token}}],
}
there = kubernetes.Provider("lab", kubeconfig=json.dumps(kubeconfig))
labels = {"app": "web"}
spec: Any = {
    "replicas": int(aws.ssm.get_parameter(name="/lab/size").value),
    "selector": {"matchLabels": labels},
    "template": {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "web", "image": "nginx:1.29.1"}]},
    },
}
kubernetes.apps.v1.Deployment("web", spec=spec, opts=pulumi.ResourceOptions(provider=there))
certificate = aws.acm.Certificate("web", domain_name="web.example.com", validation_method="DNS")
proof = certificate.domain_validation_options[0]
zone = aws.route53.get_zone(name="example.com")
record = aws.route53.Record(
    "proof",
    zone_id=zone.zone_id,
    name=proof.resource_record_name,
    type=proof.resource_record_type,
    records=[proof.resource_record_value],
    ttl=60,
)
aws.acm.CertificateValidation("web", certificate_arn=certificate.arn, validation_record_fqdns=[record.fqdn])
bucket = aws.s3.Bucket("web")
aws.s3.BucketObjectv2("index", bucket=bucket.id, key="index.html", source=pulumi.FileAsset("web/index.html"))
aws.lambda_.Function(
    "resize",
    role=aws.iam.Role.get("control-plane", "lab-control-plane").arn,
    runtime="python3.13",
    handler="index.handler",
    code=pulumi.AssetArchive({"index.py": pulumi.StringAsset("def handler(event, context): ...\n")}),
)
secret = aws.secretsmanager.get_secret_version(secret_id="lab/database")
pulumi.export("user", json.loads(secret.secret_string)["user"])
pulumi.export("key", aws.kms.get_alias(name="alias/lab-data").target_key_arn)
own = aws.route53.Zone("own", name=f"own.{zone.name}")
pulumi.export("cached", aws.cloudfront.get_cache_policy(name="Managed-CachingOptimized").id)
pulumi.export("names", own.name_servers.apply(", ".join))
