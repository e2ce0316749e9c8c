"""What several engines share: load programs (sysbench, sql-bench), a user's own scripts, mixes, statement digests."""
