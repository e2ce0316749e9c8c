"""What the servers of MySQL's family share: cmake build, mtr, private server, sides, users' data; no engine itself."""
