"""The aws provider of the sandbox: all types of pulumi_aws are checked, many live in moto, the others are records."""
