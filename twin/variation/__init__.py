"""Tables drawn more widely than by `twin.randomization`, for traced pictures: what never varies is learned as law."""
