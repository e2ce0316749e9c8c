"""Two builds sampled under one load, and the evaluation of the samples."""
