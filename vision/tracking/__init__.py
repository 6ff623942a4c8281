"""Follow every figure of the roster: assignment, motion, heading, falls, teams."""
