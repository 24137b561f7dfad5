"""What the Positions lens shows, worked out: arrays, sentences, tables. Nothing is drawn here."""
