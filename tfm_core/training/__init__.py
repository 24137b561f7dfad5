"""Training small transformers on tasks with known answers, and looking at them while they learn."""
