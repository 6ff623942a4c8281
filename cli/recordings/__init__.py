"""Commands about recorded or filmed play: `track` and `judge`."""
