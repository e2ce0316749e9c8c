"""From what a user asks for as a load or a condition to values; pure."""
