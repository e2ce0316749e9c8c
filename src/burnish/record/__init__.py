"""What happened: a study's append-only record, and the store of what outlives a study."""
