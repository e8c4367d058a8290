"""The Terraform AWS provider beside ours: what each says of the stacks."""
