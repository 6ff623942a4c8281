"""What belongs to service."""
