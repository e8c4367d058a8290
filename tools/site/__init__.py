"""The documentation as a website: its pictures, its pages, and the environment that builds it."""
