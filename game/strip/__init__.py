"""The strip of a card game: what the camera reads of it becomes declarations, or a question where the game differs.

`strip_follower` is the way in; `card_lines` says what is printed on a card.
"""
