"""Full-screen graphics of the stream: what stands on them is made here, from what the game has published."""
