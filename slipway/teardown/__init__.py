"""Removes what a cluster's controllers made and no stack knows: instances, load balancers, volumes, interfaces."""
