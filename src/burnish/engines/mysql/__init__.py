"""MySQL and Percona Server: built, tested, deployed, loaded."""
