"""A rig in a tournament: its journals are copied to the tournament's store, and the desk follows its feed."""
