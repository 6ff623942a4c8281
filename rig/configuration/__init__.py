"""The configuration: one TOML file, overridden by environment variables and the command line."""
