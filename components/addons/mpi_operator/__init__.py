"""MPI Operator: MPIJobs of `kubeflow.org/v2beta1`, whose launcher starts processes on its workers by SSH."""

from components.addons.mpi_operator.addon import MpiOperator

__all__ = ["MpiOperator"]
