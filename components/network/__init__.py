"""The network of an environment: VPC, subnets, routing, endpoints, flow logs."""

from components.network.network import Network, NetworkArgs

__all__ = ["Network", "NetworkArgs"]
