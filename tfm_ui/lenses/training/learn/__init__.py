"""The view "learn": loss, accuracy and heads while a model learns, and at each moment afterwards."""
