"""All that is data: engines, toolchains, variants, workloads, studies; each entry with its reason."""
