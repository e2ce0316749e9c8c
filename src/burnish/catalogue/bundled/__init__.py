"""Bundled studies and the published tables that they replicate: files in, frozen values out."""
