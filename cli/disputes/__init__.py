"""Commands that settle disputes: `export`, `review`, `verify` and `shadow`."""
