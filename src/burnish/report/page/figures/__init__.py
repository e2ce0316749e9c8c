"""Drawings of measured figures: as values (`shapes`), and as SVG that needs no script (`drawing` and the others)."""
