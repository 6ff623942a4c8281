"""Commands for reviewing, exporting and verifying games."""
