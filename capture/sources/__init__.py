"""Frame sources: cameras, network streams, files and the twin; live ones reconnect by themselves."""
