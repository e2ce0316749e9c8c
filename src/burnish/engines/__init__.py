"""The few behaviours of each engine that its TOML can't say."""
