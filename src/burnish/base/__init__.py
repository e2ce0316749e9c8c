"""Errors, paths, processes and their warden, system packages, network namespaces; independent of any engine."""
