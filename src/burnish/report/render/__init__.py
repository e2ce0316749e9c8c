"""One small renderer for each format: a `Document` or a result's values come in, text goes out."""
