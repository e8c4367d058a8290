"""The Terraform AWS provider, which pulumi-aws bridges, acts on the account (docs/adr/0172)."""
