"""Shared by all components: the outputs they pass to one another, IAM, manifests, Helm releases, the add-on contract,
placement and sizing of controllers."""
