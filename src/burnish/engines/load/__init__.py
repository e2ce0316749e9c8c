"""Load programs that several servers share: sysbench, sql-bench, a user's own scripts."""
