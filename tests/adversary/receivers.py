"""What the author of a pull request grants to identities that no list of the bad names, and to a cache of images."""

from typing import Final

from tests.adversary.changes import grants, trust
from tests.adversary.independent.cloud import adds

HERE: Final = "arn:aws:iam::444455556666:"
CHANGES: Final = (
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
    adds("gives caches of images to a role", "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate",
         prefix="x", customRoleArn=f"{HERE}role/x", repositoryPolicy=grants("ecr:*", Principal="*")),
)  # fmt: skip
