"""SQL that a user brings: logs, digests and dumps in, weighted statements out; pure."""
