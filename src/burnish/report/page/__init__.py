"""What only a page has: the answer at its head, figures, and what else a reader elsewhere needs."""
