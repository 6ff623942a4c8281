"""The live feed: hub, streams, relay processes."""
