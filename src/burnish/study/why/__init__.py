"""Two builds sampled under one load, and what the samples say."""
