"""Random appearances of tables, by split."""
