"""The groups of verbs: profile, record, study, workload."""
