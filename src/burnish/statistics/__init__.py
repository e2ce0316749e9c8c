"""From readings to verdicts; pure, no I/O."""
