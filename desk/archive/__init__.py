"""An archive of games: added with their bundles, found by conditions, judged or tracked again on many computers."""
