"""The state of the board and of the picture: power, and the health of the picture.

`power` decides whether the board is on; `lighting` and `picture_health` judge the picture.
"""
