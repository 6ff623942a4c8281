"""What is published of a game: topics, and when they change."""
