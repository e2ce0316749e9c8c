"""One small renderer for each format: from a `Document`, or from plain values, to text."""
