"""The sandbox: an AWS account and its EKS clusters on loopback, so that the Pulumi program runs without a cloud."""

from typing import Final

IN_SANDBOX_SHELL: Final = "SLIPWAY_SANDBOX_SHELL"
"""Set by `slipway sandbox env`: every run in that shell uses the sandbox."""
