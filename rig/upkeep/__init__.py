"""Keeping a rig running for years: its log, its system service, files for bug reports, backups."""
