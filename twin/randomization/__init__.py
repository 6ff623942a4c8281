"""What a table looks like, drawn at random by split."""
