"""What the Attention lens shows: arrays, labels, sentences, tables. A file a view. Nothing is drawn here."""
