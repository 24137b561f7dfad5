"""Fine-tuning: a body that has read much text without labels learns a task from a few labelled sentences."""
