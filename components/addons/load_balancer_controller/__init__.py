"""AWS Load Balancer Controller: load balancers for Ingresses, Services and Gateways."""

from components.addons.load_balancer_controller.addon import LoadBalancerController

__all__ = ["LoadBalancerController"]
