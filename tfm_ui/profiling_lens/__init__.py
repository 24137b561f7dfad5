"""The Profiling lens: what its views show, as functions of the model's state, its own, and a measurement."""
