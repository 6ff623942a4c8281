"""Reports of a game for people: play by play, drives, statistics, diagrams, and how calls fared."""
