"""What belongs to writing."""
