"""The verbs for runs that nobody sits beside: a check in a pipeline, history, watching and resuming."""
