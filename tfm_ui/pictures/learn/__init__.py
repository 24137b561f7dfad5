"""How a network learned: its curves beside its attention, at each snapshot of a run of training."""
