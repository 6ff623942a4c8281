"""What belongs to sealing."""
