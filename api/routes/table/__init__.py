"""The game in play and its table: declarations, rulings, teams, rulebooks, calibration, set-up."""
