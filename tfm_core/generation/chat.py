"""What an assistant reads of a message: its template, as its makers have trained it with it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Chat:
    """How a model was trained to be asked.

    Attributes:
        template: with {message} where the reader's message stands; what comes next is the model's answer.
        end: the special token that ends an answer; "" if none is to end it.
    """

    template: str
    end: str

    def around(self, message: str) -> str:
        """The text that the model is given of a message."""
        return self.template.replace("{message}", message)


# As the field tokenizer.chat_template of the GGUF file writes one message, with the system message that it adds.
SMOLLM2 = Chat(
    template="<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\n{message}<|im_end|>\n<|im_start|>assistant\n",
    end="<|im_end|>",
)
CHATS: Mapping[str, Chat] = {"smollm2": SMOLLM2}  # name of weights -> how they are asked, where they can be
