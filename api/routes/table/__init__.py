"""What belongs to table."""
