"""Runs on disk: found, begun, resumed, reproduced and cleaned up."""
