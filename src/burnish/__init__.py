"""Burnish: finds, and proves, the fastest way to build a database server for a workload."""

__version__ = "0.1.0"
