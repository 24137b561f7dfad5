"""What a link says: fields and how they read a link, the model's state, sample texts."""
