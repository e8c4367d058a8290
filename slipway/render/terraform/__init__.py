"""A stack's AWS resources as Terraform JSON, for tools that read Terraform: Checkov, Trivy, Infracost, OPA."""

from slipway.render.terraform.document import document

__all__ = ["document"]
