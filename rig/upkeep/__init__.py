"""Keeping a rig running: backup, log, support file, and the service that systemd starts."""
