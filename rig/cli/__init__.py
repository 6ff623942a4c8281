"""The `downfield` command and its sub-commands."""
