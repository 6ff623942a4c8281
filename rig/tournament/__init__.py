"""A rig's link to a tournament: its journal and feed go to the broker; teams, schedule and games come from the desk."""
