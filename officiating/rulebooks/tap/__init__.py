"""TAP: Tudor Advanced Play, as played at Tudor-Con. Dice decide kicks, pivots at stoppages most of the rest."""
