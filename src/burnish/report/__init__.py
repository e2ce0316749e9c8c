"""What a person reads; pure functions of the record."""
