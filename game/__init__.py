"""One game in play and kept: session, journal, hash chain, store, history, published state."""
