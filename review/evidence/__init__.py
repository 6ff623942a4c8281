"""What belongs to evidence."""
