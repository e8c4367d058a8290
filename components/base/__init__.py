"""What components of every kind stand on: outputs they hand to one another, IAM, manifests, Helm releases, the add-on
contract, placement and sizing of controllers."""
