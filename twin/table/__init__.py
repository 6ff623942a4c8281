"""A table at one instant, as every other package speaks of it: nothing here draws at random, moves or renders.

`snapshot` says where everything is and `appearance` what it looks like; `solids` turns both into placed
solids, on a board that may be bowed; `board_print` paints the board, with words by `lettering`.
"""
