"""Tracking of every figure of the roster: assignment, motion, heading, falls, teams."""
