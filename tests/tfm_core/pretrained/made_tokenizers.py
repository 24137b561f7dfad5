"""Small tokenizers of the usual families, trained here, and texts that are hard to cut."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokenizers
from hypothesis import strategies as st
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from tfm_core.pretrained.tokenizer import CLIP, LLAMA_3, QWEN_2

CORPUS = [
    "The whale swam on, and the sea was calm. Don't say that it isn't; we'll see what they've got.",
    "def add(first, second):\n    return first + second\n\n\nprint(add(12, 30))  # 42",
    "Über den Wolken muß die Freiheit wohl grenzenlos sein. L'été dernier, ça allait à merveille.",
    "你好，世界。 Привет, мир! สวัสดีชาวโลก שלום עולם السلام عليكم 👩‍👩‍👧‍👦 🇩🇪",
    "The rain in Spain stays mainly in the plain: 1234567890, 3.14159, 2024-01-31.",
] * 4

HARD = {
    "empty": "",
    "a space": " ",
    "runs of spaces": "  two   runs    of     spaces  ",
    "tabs and lines": "\t\ttabs\n\n\nlines\r\nand\r",
    "joined emoji": "👩‍👩‍👧‍👦 family 🏳️‍🌈 🤷🏽‍♀️",
    "flags": "🇩🇪🇫🇷",
    "combining marks": "e\u0301 a\u0308\u0323 n\u0303\u0301\u0301",
    "Arabic": "السَّلام عليكم ﷺ",
    "Hebrew": "שָׁלוֹם עולם",
    "Chinese": "你好，世界",
    "Thai": "สวัสดีชาวโลก",
    "nul": "nul\0in\0text",
    "replacement": "\ufffd",
    "soft hyphen": "soft\u00adhyphen",
    "byte order mark": "\ufeffbom",
    "other spaces": "\u200b\u200d\u2028\u2029\u00a0\u3000",
    "a long word": "Donaudampfschifffahrt" * 40,
    "digits": "1234567890 3.14159 ½ ٣٤٥ x²",
    "apostrophes": "don't I'LL we've 'S 'tis",
    "address": "https://example.org/a?b=c&d=%20#e",
    "code": "def f(x):\n    if x:\n        return x ** 2\n\n\tpass\n",
    "signs of BERT": "[MASK] is [CLS] [SEP][PAD]x[UNK]",
    "signs of RoBERTa": "<s>The</s> <unk> <mask>, the  <mask>.",
    "signs of Llama": "<|im_start|>user\nhi<|im_end|> <|endoftext|><|endoftext|>",
    "case and accents": "MiXeD CaSe ÀÉÎ ﬁ ǅ İ",
    "what pieces look like": "<0x0A><0xE2> Ġhello ▁world ##ing <id 7>",
    "control characters": "\x7f\x80\x85\x1b[0m",
    "beyond 16 bits": "𝔘𝔫𝔦 𐍈",
}
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60) | st.lists(
    st.sampled_from([" ", "  ", "\n", "\t", "a", "The", " the", "12", "'s", "é", "<mask>", "[MASK]", "<|im_end|>", "."])
).map("".join)

VOCAB = 600  # ids of a model, more than any of these tokenizers has


def of_bytes(pre_tokenizer: Any, signs: list[str], **model: Any) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE(**model))
    made.pre_tokenizer = pre_tokenizer
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=signs, initial_alphabet=alphabet, show_progress=False, **model
    )
    made.train_from_iterator(CORPUS, trainer)
    return made


def split_and_bytes(pattern: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def gpt2() -> tokenizers.Tokenizer:
    return of_bytes(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])


def roberta() -> tokenizers.Tokenizer:
    made = of_bytes(pre_tokenizers.ByteLevel(add_prefix_space=False), ["<s>", "<pad>", "</s>", "<unk>"])
    made.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True, special=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return made


def llama_3() -> tokenizers.Tokenizer:
    made = of_bytes(split_and_bytes(LLAMA_3), ["<|begin_of_text|>", "<|im_start|>", "<|im_end|>"])
    template = processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)])
    made.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return made


def qwen_2() -> tokenizers.Tokenizer:
    made = of_bytes(split_and_bytes(QWEN_2), ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    made.normalizer = normalizers.NFC()
    return made


def smollm() -> tokenizers.Tokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    steps = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return of_bytes(steps, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"])


def clip() -> tokenizers.Tokenizer:
    signs = ["<|startoftext|>", "<|endoftext|>"]
    words = pre_tokenizers.Split(Regex(CLIP), behavior="removed", invert=True)
    steps = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    made = of_bytes(steps, signs, end_of_word_suffix="</w>")
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    made.normalizer = normalizers.Sequence([normalizers.NFC(), spaces, normalizers.Lowercase()])
    made.post_processor = processors.RobertaProcessing((signs[1], 1), (signs[0], 0), add_prefix_space=False)
    return made


def bert() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(
        CORPUS, trainers.WordPieceTrainer(vocab_size=400, special_tokens=signs, show_progress=False)
    )
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.decoder = decoders.WordPiece()
    made.enable_truncation(8)
    made.enable_padding(length=16)
    return made


def llama_2() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.BPE())
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(vocab_size=150, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    made.train_from_iterator(CORPUS[:2], trainer)
    made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    spaces, start = decoders.Replace("▁", " "), decoders.Strip(" ", left=1)
    made.decoder = decoders.Sequence([spaces, decoders.ByteFallback(), decoders.Fuse(), start])
    data = json.loads(made.to_str())  # the trainer knows nothing of bytes
    data["model"] |= {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"}
    data["model"]["vocab"] |= {f"<0x{byte:02X}>": len(data["model"]["vocab"]) + byte for byte in range(256)}
    return tokenizers.Tokenizer.from_str(json.dumps(data))


def xlm_roberta() -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(models.Unigram())
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    signs = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(vocab_size=200, special_tokens=signs, unk_token="<unk>", show_progress=False)
    made.train_from_iterator(CORPUS, trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made.decoder = decoders.Metaspace()
    return made


BYTES: list[Callable[[], tokenizers.Tokenizer]] = [gpt2, roberta, llama_3, qwen_2, smollm]
FAMILIES = [*BYTES, clip, bert, llama_2, xlm_roberta]
ENDS = {roberta: (1, 1), llama_3: (1, 0), clip: (1, 1), bert: (1, 1), llama_2: (1, 0), xlm_roberta: (1, 1)}


_folder = TemporaryDirectory()


@cache
def file_of(family: Callable[[], tokenizers.Tokenizer]) -> Path:
    """The family's tokenizer.json."""
    path = Path(_folder.name) / family.__name__ / "tokenizer.json"
    path.parent.mkdir()
    family().save(str(path))
    return path
