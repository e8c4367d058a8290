"""The sandbox: an AWS account and its EKS clusters on loopback, so that the Pulumi program runs without a cloud."""

from typing import Final

CHARTS: Final = "SLIPWAY_CHARTS"
"""The folder of charts that the sandbox installs. A command asks a running one for it (`sandbox.asked`)."""
IN_SANDBOX_SHELL: Final = "SLIPWAY_SANDBOX_SHELL"
"""Set by `slipway sandbox env`: every run in that shell uses the sandbox."""
