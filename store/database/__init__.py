"""What belongs to database."""
