"""The checks of `downfield doctor`: everything a game needs, with a remedy for each fault."""
