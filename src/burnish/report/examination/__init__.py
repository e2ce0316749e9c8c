"""What this machine has and lacks: facts come in, findings with their remedies go out."""
