"""The language host of Pulumi for Python: its process, those of programs, and how the CLI finds it."""
