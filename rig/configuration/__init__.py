"""The configuration: one TOML file, the environment and the command line over it."""
