"""Tasks with known answers: what a small transformer can learn while one looks on."""
