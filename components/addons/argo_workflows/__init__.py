"""Argo Workflows: pipelines of steps, each a pod, with artifacts in S3 (argo-workflows.readthedocs.io)."""

from components.addons.argo_workflows.addon import ArgoWorkflows

__all__ = ["ArgoWorkflows"]
