"""A study from request to verdicts: prepared, built, measured, judged, recorded."""
