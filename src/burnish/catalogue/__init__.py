"""The catalogue: engines, toolchains, variants, workloads and studies as data; each entry has a reason."""
