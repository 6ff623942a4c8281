"""The game as it stands, what a scene shows of it, and the interfaces by which rules read both."""
