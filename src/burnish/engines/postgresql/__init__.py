"""PostgreSQL for Burnish."""
