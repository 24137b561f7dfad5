"""Lab GPT in the making: the prose that it reads, what it is measured against, its recipe and its model card."""
