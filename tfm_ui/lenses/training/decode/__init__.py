"""The view "decode": an encoder-decoder writes one token after the other, and one sees where each comes from."""
