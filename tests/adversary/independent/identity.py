"""What the author of a pull request grants: spellings of IAM that list checks miss."""

from typing import Any, Final

from tests.adversary.changes import SUBJECT, document, grants, trust
from tests.adversary.probe import Change

ROLE: Final = "aws:iam/role:Role"
INLINE: Final = "aws:iam/rolePolicy:RolePolicy"
ATTACHED: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
HERE: Final = "444455556666"
THERE: Final = "999999999999"
OIDC: Final = f"arn:aws:iam::{HERE}:oidc-provider/token.actions.githubusercontent.com"
AUDIENCE: Final = "token.actions.githubusercontent.com:aud"
ISSUER: Final = "oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF"


def allows(act: str, policy: str) -> Change:
    return Change(act, type=INLINE, props={"role": "r", "policy": policy})


def trusts(act: str, **statement: Any) -> Change:
    return Change(act, type=ROLE, props={"assumeRolePolicy": trust(**statement)})


def web(act: str, issuer: str, **condition: Any) -> Change:
    return Change(act, type=ROLE, props={"assumeRolePolicy": document(Action="sts:AssumeRoleWithWebIdentity",
                Principal={"Federated": issuer}, **({"Condition": condition} if condition else {}))})  # fmt: skip


def attaches(policy: str) -> Change:
    return Change(f"attaches {policy}", type=ATTACHED,
        props={"role": "r", "policyArn": f"arn:aws:iam::aws:policy/{policy}"})  # fmt: skip


RIGHTS: Final = (
    allows("writes the wildcard of all actions as two", grants("*:*")),
    allows("writes an action in other letters", grants("IAM:passrole")),
    allows("writes an action with a question mark", grants("iam:Create?olicyVersion")),
    allows("writes an action with wildcards in the middle", grants("i*:*RolePolicy")),
    allows("writes a wildcard escaped in JSON", grants("s3:GetObject").replace("s3:GetObject", "\\u002a")),
    allows("writes all resources as an ARN of wildcards", grants("iam:*", resource="arn:*:*:*:*:*")),
    allows("writes all resources as wildcards in parts", grants("iam:PutRolePolicy", resource="arn:aws:iam::*:r*")),
    allows("passes every role of the account", grants("iam:PassRole", resource=f"arn:aws:iam::{HERE}:role/*")),
    allows("passes every role to any service", grants("iam:PassRole", Condition={
        "StringLike": {"iam:PassedToService": "*"}})),
    allows("passes every role unless a service is named", grants("iam:PassRole", Condition={
        "StringEqualsIfExists": {"iam:PassedToService": "ec2.amazonaws.com"}})),
    allows("assumes every role of the account", grants("sts:Assume*", resource=f"arn:aws:iam::{HERE}:role/*")),
    allows("assumes a role of another account", grants("sts:AssumeRole", resource=f"arn:aws:iam::{THERE}:role/x")),
    allows("changes who may assume roles", grants("iam:UpdateAssumeRolePolicy")),
    allows("makes keys of users", grants("iam:CreateAccessKey", resource=f"arn:aws:iam::{HERE}:user/*")),
    allows("takes a newer version of a policy", grants("iam:SetDefaultPolicyVersion", "iam:CreatePolicyVersion")),
    allows("attaches policies until 2099", grants("iam:AttachRolePolicy", Condition={
        "DateLessThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}})),
    allows("attaches policies from every address", grants("iam:AttachRolePolicy", Condition={
        "IpAddress": {"aws:SourceIp": ["0.0.0.0/1", "128.0.0.0/1"]}})),
    allows("attaches policies for everybody but one", grants("iam:AttachRolePolicy", Condition={
        "ArnNotEquals": {"aws:PrincipalArn": f"arn:aws:iam::{HERE}:role/x"}})),
    allows("attaches policies if no tag says otherwise", grants("iam:AttachRolePolicy", Condition={
        "ForAllValues:StringEquals": {"aws:TagKeys": ["owner"]}})),
    allows("attaches policies if a key is absent", grants("iam:AttachRolePolicy", Condition={
        "Null": {"aws:PrincipalTag/none": "true"}})),
    allows("runs commands on every node", grants("ssm:SendCommand", "ssm:StartSession")),
    allows("reads every secret", grants("secretsmanager:GetSecretValue")),
    allows("decrypts with every key", grants("kms:Decrypt", "kms:CreateGrant")),
    allows("reads every bucket", grants("s3:GetObject", "s3:ListBucket")),
    allows("lets itself into every cluster", grants("eks:CreateAccessEntry", "eks:AssociateAccessPolicy")),
    allows("makes functions with every role", grants("lambda:CreateFunction", "iam:PassRole")),
    allows("switches the audit off", grants("cloudtrail:StopLogging", "guardduty:DeleteDetector")),
    allows("leaves its organization", grants("organizations:LeaveOrganization", "account:*")),
    *(attaches(name) for name in ("PowerUserAccess", "IAMFullAccess", "job-function/SystemAdministrator",
                                  "AmazonS3FullAccess", "SecretsManagerReadWrite")),
    Change("puts all rights into the role itself", type=ROLE, props={
            "assumeRolePolicy": trust(Principal={"Service": "ec2.amazonaws.com"}),
            "inlinePolicies": [{"name": "x", "policy": grants("*")}]}),
    Change("makes a policy beside the roles", type="aws:iam/policy:Policy", props={"policy": grants("*")}),
    Change("makes a user with a key", type="aws:iam/accessKey:AccessKey", props={"user": "x"}),
    Change("attaches a policy to everybody", type="aws:iam/policyAttachment:PolicyAttachment",
        props={"policyArn": "arn:aws:iam::aws:policy/AdministratorAccess", "roles": ["r"]}),
    Change("widens the rights of Karpenter", name="karpenter-controller-policy", edits={("policy",): grants("*")}),
    Change("widens the rights of Fluent Bit to all logs and roles", name="fluent-bit-pod-policy",
        edits={("policy",): grants("logs:*", "iam:PassRole")}),
)  # fmt: skip

TRUST: Final = (
    trusts("trusts another account by its number", Principal={"AWS": THERE}),
    trusts("trusts a role of another account in a list", Principal={"AWS": [
        f"arn:aws:iam::{HERE}:role/x", f"arn:aws:iam::{THERE}:role/x"]}),
    trusts("trusts everybody with any identity", Principal={"AWS": ["*"]}, Condition={
        "StringLike": {"aws:userid": "*:*"}}),
    trusts("trusts everybody of any organization", Principal="*", Condition={
        "StringLike": {"aws:PrincipalOrgID": "o-*"}}),
    trusts("trusts everybody outside a network", Principal={"AWS": "*"}, Condition={
        "StringNotEquals": {"aws:SourceVpc": "vpc-1"}}),
    trusts("trusts everybody with a known external ID if there is one", Principal={"AWS": "*"}, Condition={
        "StringEqualsIfExists": {"sts:ExternalId": "x"}}),
    trusts("trusts every role of its own account", Principal={"AWS": f"arn:aws:iam::{HERE}:root"}),
    web("trusts every repository of GitHub by its audience", OIDC, StringEquals={AUDIENCE: "sts.amazonaws.com"}),
    web("trusts every repository with a name", OIDC, StringLike={SUBJECT: "repo:*/slipway:ref:refs/heads/main"}),
    web("trusts every branch of its repository", OIDC, StringLike={SUBJECT: "repo:o/r:ref:refs/heads/*"}),
    web("trusts pull requests", OIDC, StringEquals={SUBJECT: "repo:o/r:pull_request"}),
    web("trusts every subject that ends right", OIDC, StringLike={SUBJECT: "*:environment:prod"}),
    web("trusts any subject unless it is named", OIDC, StringEqualsIfExists={SUBJECT: "repo:o/r:environment:prod"}),
    web("trusts a user pool without an audience", "cognito-identity.amazonaws.com"),
    web("trusts a provider of another account", f"arn:aws:iam::{THERE}:oidc-provider/{ISSUER}",
        StringEquals={f"{ISSUER}:sub": "system:serviceaccount:a:b"}),
    web("trusts every service account of its cluster", f"arn:aws:iam::{HERE}:oidc-provider/{ISSUER}",
        StringLike={f"{ISSUER}:sub": "system:serviceaccount:*:*"}),
    Change("lets the cluster trust another issuer", name="cluster-oidc", edits={("url",): "https://issuer.example"}),
    Change("lets other pods use the rights of Karpenter",
        type="aws:eks/podIdentityAssociation:PodIdentityAssociation", props={"clusterName": "slipway-prod",
            "namespace": "vision-training", "serviceAccount": "default", "roleArn": "karpenter-controller"}),
    Change("gives the pods of a team the rights of another account",
        type="aws:eks/podIdentityAssociation:PodIdentityAssociation", props={"clusterName": "slipway-prod",
            "namespace": "kube-system", "serviceAccount": "x", "roleArn": "arn:aws:iam::444455556666:role/x",
            "targetRoleArn": f"arn:aws:iam::{THERE}:role/x"}),
    Change("lets a person in as a member of system:masters", type="aws:eks/accessEntry:AccessEntry", props={
            "clusterName": "slipway-prod", "principalArn": f"arn:aws:iam::{HERE}:role/x", "type": "STANDARD",
            "kubernetesGroups": ["system:masters"]}),
    Change("lets a person in with the group of a team", type="aws:eks/accessEntry:AccessEntry", props={
            "clusterName": "slipway-prod", "principalArn": f"arn:aws:iam::{HERE}:role/x", "type": "STANDARD",
            "kubernetesGroups": ["slipway:vision:admin"]}),
    Change("lets on-call become the user of a controller", name="cluster-access-entry-on-call",
        edits={("userName",): "system:serviceaccount:kube-system:job-controller"}),
)  # fmt: skip

IDENTITY: Final = (*RIGHTS, *TRUST)
