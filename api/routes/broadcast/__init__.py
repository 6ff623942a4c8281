"""What belongs to broadcast."""
