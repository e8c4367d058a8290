"""Services of the bill, similar to AWS's names: the groups of `slipway cost`."""

from typing import Final

EKS: Final = "EKS"
EC2: Final = "EC2"
EBS: Final = "EBS"
NAT: Final = "NAT gateways"
ENDPOINTS: Final = "VPC endpoints"
ADDRESSES: Final = "Public IPv4"
BALANCERS: Final = "Load balancers"
TRANSFER: Final = "Data transfer"
FSX: Final = "FSx"
EFS: Final = "EFS"
BACKUP: Final = "Backup"
S3: Final = "S3"
RDS: Final = "RDS"
ECR: Final = "ECR"
KMS: Final = "KMS"
SECRETS: Final = "Secrets Manager"
CLOUDWATCH: Final = "CloudWatch"
MESSAGES: Final = "SNS and SQS"

ALL: Final = (
    EKS, EC2, EBS, NAT, ENDPOINTS, ADDRESSES, BALANCERS, TRANSFER, FSX, EFS, BACKUP, S3, RDS, ECR, KMS, SECRETS,
    CLOUDWATCH, MESSAGES,
)  # fmt: skip
