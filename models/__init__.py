"""The networks: detector and refiner, what surrounds them, and the runtimes that run them."""
