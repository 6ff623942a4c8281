"""The state of the board and of the picture: power, hum, health."""
