"""The sandbox's aws provider: every type of pulumi_aws is checked; many are kept in moto, the others are records."""
