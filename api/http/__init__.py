"""What belongs to http."""
