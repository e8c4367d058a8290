"""The sandbox: an AWS account and its EKS clusters on loopback, so that the Pulumi program runs without a cloud."""
