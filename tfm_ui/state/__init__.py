"""States and links: fields and how they are read from a link, the model's state, sample texts."""
