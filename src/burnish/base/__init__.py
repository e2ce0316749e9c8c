"""Errors, paths, processes and their warden, system packages, network namespaces: knows no database."""
