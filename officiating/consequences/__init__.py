"""What follows from calls and declarations in every rulebook: downs, points, penalties, the switch."""
