"""Programs that are told of the game: `obs`, `webhook`, `mqtt`, files and captions (`documents`); open `outlets`."""
