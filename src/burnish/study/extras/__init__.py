"""What a study reports beyond its comparisons: seconds, profiles, a search for weights, samples."""
