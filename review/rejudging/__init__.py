"""What belongs to rejudging."""
