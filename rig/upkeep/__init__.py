"""Keeping a rig running: backup, log, support file, and the service that systemd starts.

`checks` is what `downfield doctor` checks, with a remedy for each fault; `computer_checks` has those of the computer.
"""
