"""JupyterLab on a quarter of a GPU."""

from __future__ import annotations

import pulumi

from components.workloads import Claim, Notebook, NotebookArgs, Pod, Resources, Target
from infra.target import connect


def build(target: Target, opts: pulumi.ResourceOptions) -> Notebook:
    """Declare the notebook and its first session."""
    args = NotebookArgs(
        target=target,
        pod=Pod(
            image="quay.io/jupyter/pytorch-notebook:cuda12-python-3.12.11",
            pools=("gpu-spot",),
            # The pool time-slices its GPUs: one share is a quarter of an L4's time; GPU memory isn't divided. CPU and
            # memory are a quarter of the pool's smallest node, so that four notebooks fit on it.
            resources=Resources(cpu="1800m", memory="6Gi", gpus=1),
            volumes={"data": Claim(claim="datasets", path="/data", read_only=True)},
        ),
        session="1",
        idle_seconds=3600,
        longest_seconds=12 * 3600,
        home_size="50Gi",
    )
    return Notebook("exploration", args, opts)


if __name__ == "__main__":
    build(*connect())
