"""Commands that keep a rig: configuration, service, logs, backup, support."""
