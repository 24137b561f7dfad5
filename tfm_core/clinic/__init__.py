"""The mask doctor: reads masks as people have them, says what they mean, and finds what is wrong in them."""
