"""What stands around an array where it was printed: prompts, the library's words, and the type of its numbers."""

import re
from dataclasses import dataclass

COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SAME = str.maketrans({"−": "-", "∞": "inf", "\xa0": " ", "\u202f": " ", "\ufeff": "", "\ufe0f": "", "\u200b": ""})
FENCE = re.compile(r"^\s*```.*$", re.MULTILINE)
ASKED = re.compile(r"^(?:>>>|In ?\[\d+\]:|julia>|>> ).*\n(?=(?:.*\n)*?.*\S)", re.MULTILINE)  # above what was answered
PROMPT = re.compile(r"^\s*(?:>>>|(?:In|Out) ?\[\d+\]:|julia>)\s*", re.MULTILINE)
# Lines above a table that say its type, as Julia, Matlab and R print them, and those below it, as pandas does.
HEADS = re.compile(r"^\s*(?:\w+\s*=\s*\n\s*)?\d+\s*[×x]\s*\d+ (?P<type>[^\n\[\]]*):?\n")
ASSIGNED = re.compile(r"^\s*(?:[A-Za-z_]\w*\s*=|[A-Za-z][\w ]{0,60}:|print\([^\n]*\))\s*\n(?!\s*[({])")
C_TYPE = re.compile(r"[\w ]*\w(?:\s*\[\d*\])+\s*=?\s*(?=\{)")
R_COLUMNS = re.compile(r"^\s*(?:\[,\d+\]\s*)+\n")
R_ROW = re.compile(r"^\s*\[\d+,\]", re.MULTILINE)
SIZES = re.compile(r"torch\.Size\([^()]*\)|^\[\d+ rows x \d+ columns\]\s*$", re.MULTILINE)
RULE = re.compile(r"[\s|:+=-]+")

LITERAL = re.compile(
    r"\s*(?:\w+\s*(?::\s*[\w.]+\s*)?=(?!=)|return\b|[\w.]+:)?\s*(?:Parameter containing:)?\s*"
    r"(?:<tf\.(?:Tensor|Variable)[^\[\]]*=\s*)?"
    r"(?:(?:[A-Za-z]\w*\.)*"
    r"(?:\w*[Tt]ensor|\w*[Aa]rray|asarray|as_tensor|constant|[Mm]atrix|convert_to_tensor|Parameter|Variable|list|tuple)"
    r"\s*\(\s*|Bool|\w*\{?(?:Float|Int)\d+\}?)?"
    r"(?:(?:[A-Za-z]\w*\.)*(?:tensor|array)\s*\(\s*)?\(*\s*"
)
AFTER = re.compile(r"\s*(?:,\s*\w+\s*=\s*[^(),]*(?:\([^()]*\))?|,\s*[A-Za-z][\w.]*|\)|>|,|;|'|\s)*")

NAMED_TYPE = re.compile(
    r"dtype\s*[=:]\s*(?:torch\.|np\.|numpy\.|jnp\.|tf\.)?['\"<]*\s*(\w+)|,\s*torch\.(\w+)|numpy\.?(\w+)"
)
TYPES = {
    "bool": ("booleans", ""),
    "bool_": ("booleans", ""),
    "half": ("numbers", "float16"),
    "float16": ("numbers", "float16"),
    "bfloat16": ("numbers", "bfloat16"),
    "float": ("numbers", ""),
    "float32": ("numbers", "float32"),
    "double": ("numbers", "float64"),
    "float64": ("numbers", "float64"),
    **dict.fromkeys(("int", "long", "short", "int8", "int16", "int32", "int64", "uint8"), ("whole numbers", "")),
}
MAKERS = {  # what a constructor says of its numbers
    "Bool": ("booleans", ""),
    "BitMatrix": ("booleans", ""),
    "logical": ("booleans", ""),
    "BoolTensor": ("booleans", ""),
    "HalfTensor": ("numbers", "float16"),
    "FloatTensor": ("numbers", "float32"),
    "DoubleTensor": ("numbers", "float64"),
    "LongTensor": ("whole numbers", ""),
    "IntTensor": ("whole numbers", ""),
    "torch.Tensor": ("numbers", "float32"),
    "Float64": ("numbers", "float64"),
    "Float32": ("numbers", "float32"),
    "Float16": ("numbers", "float16"),
}


@dataclass(frozen=True)
class Hints:
    """What a text says of its numbers; "" where it says nothing.

    Attributes:
        kind: "booleans", "whole numbers" or "numbers".
        precision: the float type.
    """

    kind: str = ""
    precision: str = ""

    def over(self, nearer: "Hints") -> "Hints":
        """The same, where nothing nearer says something else."""
        return Hints(nearer.kind or self.kind, nearer.precision or self.precision)


def cleaned(text: str) -> tuple[str, Hints]:
    """The text without colours, prompts and lines about it, and what those lines say of the numbers."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()  # halves of characters, which no page can show, become “?”
        text = text.translate(SAME) if len(text) < 10_000 else _same(text)
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if "```" in text:
        text = FENCE.sub("", text)
    text = text.strip(" \n")
    start = text[:AT_START]
    if re.match(r"\s*(?:>>>|In ?\[|Out ?\[|julia>|>> )", start):
        text = PROMPT.sub("", ASKED.sub("", text, count=1), count=1)
    known = Hints()
    if head := HEADS.match(text[:AT_START]):
        known, text = _named(head["type"]), text[head.end() :]
    elif (head := ASSIGNED.match(text[:AT_START])) or (head := C_TYPE.match(text[:AT_START])):
        text = text[head.end() :]
    if R_COLUMNS.match(text[:AT_START]) or re.match(r"\s*\[,1\]", start):
        text = R_ROW.sub("", text.partition("\n")[2])
    if "torch.Size" in start or text.endswith("columns]"):
        text = SIZES.sub("", text)
    if text[:1] == "|" or "|\n" in start:
        text = _unframed(text)
    if "\\\\" in text and "&" in text:
        text = re.sub(r"\\(?:begin|end)\{\w+\}|\\hline", "", text).replace("\\\\", "\n").replace("&", " ")
    return text.strip(" \n"), known


AT_START = 4000  # signs within which a text says what it is


def _same(text: str) -> str:
    for sign, other in SAME.items():
        if chr(sign) in text:
            text = text.replace(chr(sign), str(other))
    return text


def _unframed(text: str) -> str:
    """A table of Markdown as one with tabs."""
    lines = text.splitlines()
    if not all("|" in line for line in lines if line.strip()) or any(line.count("|") == 1 for line in lines):
        return text
    rows = [line.strip().strip("|") for line in lines if line.strip() and not RULE.fullmatch(line)]
    return "\n".join("\t".join(cell.strip() for cell in row.split("|")) for row in rows)


def is_literal(before: str, after: str) -> bool:
    """Whether what stands around lists makes an array of them, and computes nothing."""
    return len(before) <= 200 and len(after) <= 200 and bool(LITERAL.fullmatch(before) and AFTER.fullmatch(after))


def hints(before: str, after: str, *, values_are: str) -> Hints:
    """What stands around lists says of their numbers.

    Args:
        before: what stands before the first bracket.
        after: what stands after the last.
        values_are: the kind of the numbers by themselves. Where torch prints numbers without a type, they are float32.
    """
    named = NAMED_TYPE.search(after) or NAMED_TYPE.search(before)
    name = next(filter(None, named.groups()), "") if named else ""
    if name in TYPES:
        kind, precision = TYPES[name]
        is_numpy = "torch" not in named[0] and "array" in before if named else False
        return Hints(kind, precision or ("float64" if is_numpy else "float32") if name == "float" else precision)
    made = _named(before)
    is_torch = re.search(r"tensor\s*\(|tf\.constant", before)
    if not made.kind and is_torch and values_are == "numbers":
        return Hints("numbers", "float32")
    return made


def _named(text: str) -> Hints:
    return next((Hints(*said) for name, said in MAKERS.items() if name in text), Hints())
