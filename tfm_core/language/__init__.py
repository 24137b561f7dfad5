"""A small language model of our own, Lab GPT: its tokenizer, its weights, the text that it learned from, its recipe."""
