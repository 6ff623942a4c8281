"""The live loop and the `downfield` command."""
