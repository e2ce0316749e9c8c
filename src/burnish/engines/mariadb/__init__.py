"""MariaDB: built, tested, deployed, loaded."""
