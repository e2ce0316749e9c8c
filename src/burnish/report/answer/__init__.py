"""Documents of one screen: a run's answer, a check, a history, a running study; values come in, documents go out."""
