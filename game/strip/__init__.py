"""A game followed by its strip: what slide, ball and dials say against the state of the game."""
