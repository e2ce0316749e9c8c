"""Profiles of a server: from what training wrote to an accepted, named artefact, merged, imported and exported."""
