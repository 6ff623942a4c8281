"""What belongs to records."""
