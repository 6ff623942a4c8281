"""Pictures for disputes: projection first, then what is drawn, measured and encoded."""
