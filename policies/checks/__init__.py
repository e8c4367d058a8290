"""Parts that checks share: questions about a property, pods, pools of nodes, subnets, releases of a chart."""
