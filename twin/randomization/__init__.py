"""Whole tables drawn from a seed: the look of board, figures, ball, light, clutter and camera (domain randomization).

Open `tables`: `draw_table` and `draw_players` are the entry. Everything is drawn by a `deck` of one split, so that
training, validation and test tables share no seed and no setting. The other modules draw one part each.
"""
