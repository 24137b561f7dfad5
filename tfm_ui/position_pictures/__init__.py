"""What the browser draws of the Positions lens, each a function of the model's state and the lens's."""
