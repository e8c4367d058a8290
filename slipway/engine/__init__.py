"""Running the Pulumi CLI: its arguments and environment, how it is stopped, and how its plans and state are read."""
