"""The state of the board and of the picture: power, and the health of the picture.

`power` decides whether the board is on, `picture_health` what is unfit for calls: dark, frozen, covered, moved.
`lighting` finds faults of lamps and exposure for it, `picture_changes` whether a picture shows anything new.
"""
