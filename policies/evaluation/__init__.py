"""What values mean: what IAM statements allow and whom, which addresses ranges cover, what user data contains."""
