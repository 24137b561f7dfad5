"""A room: who hears a lecture follows it on the own screen, answers before the answer is shown, and is counted."""
