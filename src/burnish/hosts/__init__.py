"""Many hosts: builds anywhere, trials alone on each host, one report (docs/HOSTS.md)."""
