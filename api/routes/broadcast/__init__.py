"""What is on air: the feed, pictures, the program, replays, cards, logos and the list of overlays."""
