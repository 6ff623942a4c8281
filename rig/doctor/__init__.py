"""`downfield doctor`: checks everything a game needs, and says what to do about each fault."""
