"""The network of an environment: VPC, subnets, ways in and out, endpoints, flow logs."""

from components.network.network import Network, NetworkArgs

__all__ = ["Network", "NetworkArgs"]
