"""The state of the board and of the picture: power, and the health of the picture."""
