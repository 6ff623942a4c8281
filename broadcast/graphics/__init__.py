"""Cards, standings, sponsors and logos that overlays show."""
