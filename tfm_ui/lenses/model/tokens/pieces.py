"""The text cut by all schemes side by side, and the history of the piece that is chosen."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray

from tfm_core.language.alike import Sign, code_points, signs_alike
from tfm_core.language.bpe import in_text
from tfm_core.language.cutting import Cut, History, Scheme, words_in
from tfm_core.language.histories import after_merges, longest_match, merge_history, merges_within
from tfm_ui.lenses.model.state import PREFIX
from tfm_ui.lenses.model.tokens.labels import chip, isolated
from tfm_ui.lenses.model.tokens.schemes import TokensPanel, gives_back, measured, scheme_code
from tfm_ui.live.script import script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.text import formats, units

PAGE = 120  # pieces of the chosen scheme on screen at a time
BESIDE = 240  # pieces of any other on screen
STEPS = 14  # steps of a history on screen, the last ones
ROWS_OF_WORD = 40  # signs of a word whose states are drawn whole


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """How many tokens each scheme makes of the text."""
    rows = header["rows"][::-1]
    names = [figures.plain(row["name"]) for row in rows]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [row["count"] for row in rows],
        "y": np.arange(len(rows)),
        "customdata": [f"{name}: {figures.plain(row['facts'])}" for name, row in zip(names, rows, strict=True)],
        "marker": {"color": figures.colour_of("query")},
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    layout = {
        "template": figures.TEMPLATE,
        "title": heatmaps.note(f"The text: {header['text']}"),
        "xaxis": {"title": {"text": "tokens"}},
        "yaxis": {"title": {"text": "tokenizer"}, "tickvals": [*range(len(rows))], "ticktext": names},
        "height": 120 + 44 * len(rows),
    }
    return go.Figure([bars], layout)


TOKENS = Canvas(
    "lenses/model/tokens",
    """
<div class="tokens" data-picture>
  <div class="cuts"></div>
  <div class="history"></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    figure,
)


def ids_by(*, scheme: Scheme, text: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The pieces of a text, and their ids."""
    tokens = scheme.cut(text)
    pieces, ids = tokens.pieces, tokens.ids
    return pieces, ids


class TokensPieces(TokensPanel):
    """A row for each scheme; below, how the chosen piece came about."""

    title = "One text, cut in several ways"
    canvas = TOKENS
    how_to_read = (
        "A row for each tokenizer, its tokens from left to right as a model reads them, also of Arabic, with their "
        "ids; · is a space. Click a piece to see how it came about; in all rows the "
        "pieces of the same letters are marked. Arrow keys walk along the chosen row."
    )
    sources = (merge_history, longest_match)

    @cached_property
    def cuts(self) -> dict[str, Cut]:
        """Scheme -> the text's tokens."""
        return {name: self.cut(name) for name in self.names}

    @property
    def mine(self) -> Cut:
        """The tokens of the chosen scheme."""
        return self.cuts[self.chosen]

    @property
    def at(self) -> int:
        """The piece that is looked at, from 0; the last, where there are fewer."""
        return min(self.state.piece, len(self.mine.ids)) - 1

    @property
    def shape(self) -> str:
        return f"{formats.plural(len(self.mine.ids), 'token')} of {self.chosen}"

    @cached_property
    def history(self) -> History | None:
        """How that piece came about, of byte pairs and WordPiece."""
        return self.scheme(self.chosen).history(self.text, self.at) if self.at >= 0 else None

    @cached_property
    def alike(self) -> Sequence[Sign]:
        """Signs of the text that are easily taken for others."""
        return signs_alike(self.text)

    @cached_property
    def typed(self) -> list[str]:
        """Names of special tokens that stand in the text, of the schemes on screen."""
        names = {name for each in self.names for name in self.scheme(each).special.values()}
        return sorted((name for name in names if name in self.text), key=self.text.index)

    def facts(self, name: str) -> str:
        """How many tokens a scheme makes, and how long they are."""
        count = len(self.cuts[name].ids)
        numbers = measured(self.text, count)
        by = "tokens a word" if words_in(self.text) else "tokens a character"
        said = [formats.plural(count, "token")]
        said += [f"{units.three(numbers[by])} a {by.rpartition(' ')[2]}"] if np.isfinite(numbers[by]) else []
        return " · ".join([*said, f"{units.three(numbers['bytes a token'])} bytes each"] if count else said)

    def sentence(self) -> str:
        """The fewest and the most tokens; what is typed and what is taken for something else."""
        if not self.text:
            return "There is no text to cut."
        counts = {name: len(cut.ids) for name, cut in self.cuts.items()}
        few, many = min(counts.values()), max(counts.values())
        said = [
            f"{self.chosen} cuts the text into {formats.plural(counts[self.chosen], 'token')}. Fewest tokens: "
            f"{_with(counts, few)}. Most: {_with(counts, many)}."
        ]
        return " ".join(filter(None, [*said, self.about_typed(), self.about_alike(), self.about_loss()]))

    def about_typed(self) -> str:
        """What became of a typed name of a special token; "" if there is none."""
        if not self.typed:
            return ""
        name = self.typed[0]
        owner = next(each for each in self.names if name in self.scheme(each).special.values())
        whole = self.scheme(owner)
        number = next(number for number, special in whole.special.items() if special == name)
        pieces, by_default = whole.cut(name).pieces, whole.by_default(name)
        reads = "reads it as that token" if number in by_default else "does not read it as that token, either"
        return (
            f"“{isolated(name)}” is text here: {owner} cuts it into {formats.plural(len(pieces), 'piece')}, none of "
            f"them its special token {number}. Left at its defaults, the tokenizers library {reads}."
        )

    def about_alike(self) -> str:
        """Which signs are easily taken for others; "" if there are none."""
        if not self.alike:
            return ""
        first = self.alike[0]
        like = f"looks like “{isolated(first.like)}” and is" if first.like else "is"
        others = len(self.alike) - 1
        more = f" {formats.count(others)} more can mislead, too." if others else ""
        sign = f"“{isolated(chip(first.text))}” ({code_points(first.text)})"
        return f"Sign {first.at + 1}, {sign}, {like} {first.why}.{more}"

    def about_loss(self) -> str:
        """Whether the chosen tokens give the text back."""
        if gives_back(self.scheme(self.chosen), self.text, self.mine.pieces):
            return "Joined, these tokens are the text again, to the last byte."
        return f"Joined, the tokens of {self.chosen} are not the text: spaces, capitals or rare signs are lost."

    def laws(self) -> dict[str, bool]:
        """No typed sign is special, and histories end in the tokens."""
        special = {
            name: {n for n, written in self.scheme(name).special.items() if written != "[UNK]"} for name in self.names
        }
        laws = {"no piece of the text is a special token": all(not special[n] & {*c.ids} for n, c in self.cuts.items())}
        if self.history and self.history.merges:
            ends = tuple(after_merges(self.history.signs, self.history.merges)) == self.history.parts
            laws["the merges end in the tokens of the tokenizers library"] = ends
        if "bytes" in self.cuts:
            size = len(self.text.encode("utf-8", "surrogatepass"))
            laws["there are as many tokens by bytes as UTF-8 has bytes"] = len(self.cuts["bytes"].ids) == size
        return laws

    def table(self) -> pd.DataFrame:
        """A row for each scheme: the four measures, and whether its tokens give the text back."""
        rows = {
            name: {
                **measured(self.text, len(cut.ids)),
                "vocabulary": self.scheme(name).vocab_size,
                "gives the text back": gives_back(self.scheme(name), self.text, cut.pieces),
            }
            for name, cut in self.cuts.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("tokenizer")

    @property
    def tensors(self) -> Step | None:
        ids = torch.tensor(self.mine.ids, dtype=torch.int64)
        spans = torch.tensor(self.mine.spans, dtype=torch.int64).reshape(-1, 2)
        note = "Ids are looked up, and computed from no tensor. No special token stands around the text."
        return Step(
            f"The text, cut by {self.chosen}",
            [
                held("ids", ("seq",), ids, "of the text’s tokens"),
                held("spans", ("seq", "end"), spans, "where each begins and ends, in characters"),
            ],
            note=note,
        )

    def recipe(self) -> str:
        """A script that leaves `pieces` and `ids` of the chosen scheme."""
        return script(ids_by, scheme=scheme_code(self.chosen, self.model.weights), text=self.text)

    def picture(self) -> Content:
        """The rows, as far as they are on screen, and the history."""
        at = self.at
        first = max(at, 0) // PAGE * PAGE
        shown = self.mine.spans[first : first + PAGE]
        begin, end = (min(a for a, _ in shown), max(b for _, b in shown)) if shown else (0, 0)
        header = {
            "rows": [self._row(name, begin, end, first) for name in self.names],
            "text": self.text[:200],
            "at": at,
            "span": list(self.mine.spans[at]) if at >= 0 else [0, 0],
            "parameters": {"scheme": f"{PREFIX}cut", "piece": f"{PREFIX}piece"},
            "history": self._history(),
        }
        return header, np.zeros(0, np.float32)

    def _row(self, name: str, begin: int, end: int, first: int) -> dict[str, Any]:
        """A scheme's row: of a long text the pieces that stand for the same letters as the chosen scheme's."""
        tokens = self.cuts[name]
        if name == self.chosen:
            places: Sequence[int] = range(first, min(first + PAGE, len(tokens.ids)))
        elif len(tokens.ids) <= BESIDE:
            places = range(len(tokens.ids))
        else:
            places = [at for at, (a, b) in enumerate(tokens.spans) if b > begin and a < end][:BESIDE]
        return {
            "name": name,
            "facts": self.facts(name),
            "count": len(tokens.ids),
            "chosen": name == self.chosen,
            "before": places[0] if places else 0,
            "after": len(tokens.ids) - places[-1] - 1 if places else 0,
            "pieces": [
                {"text": chip(tokens.pieces[at]), "id": tokens.ids[at], "at": at, "span": list(tokens.spans[at])}
                for at in places
            ],
        }

    def _history(self) -> dict[str, Any]:
        """What stands below the rows: a title, and steps, each with its parts and what is said of it."""
        if self.at < 0:
            return {"title": "", "about": "", "steps": []}
        piece, number = self.mine.pieces[self.at], self.mine.ids[self.at]
        title = f"“{isolated(chip(piece))}”, token {self.at + 1} of {len(self.mine.ids)}, id {formats.count(number)}"
        if self.history and self.history.merges:
            return {"title": title, **_of_merges(self.history)}
        if self.history and self.history.matches:
            return {"title": title, **_of_matches(self.history)}
        begin, end = self.mine.spans[self.at]
        letters = self.text[begin:end][:16]
        size = " ".join(f"{byte:02X}" for byte in letters.encode("utf-8", "surrogatepass"))
        about = _without_history(self.chosen, letters, size, self.scheme(self.chosen))
        if self.history and self.history.of_bytes:
            about = f"No merge of the list joins this byte with a neighbour. {code_points(letters)}: bytes {size}."
        return {"title": title, "about": about, "steps": []}


def _with(counts: dict[str, int], count: int) -> str:
    """Which schemes make this many tokens, and how many."""
    names = [name for name, each in counts.items() if each == count]
    return f"{formats.listed(names)}, {formats.count(count)}{' each' if len(names) > 1 else ''}"


def _without_history(name: str, letters: str, in_bytes: str, scheme: Scheme) -> str:
    """What is told of a piece that was cut in one step."""
    told = f"{code_points(letters)}; in UTF-8 the bytes {in_bytes}."
    match name:
        case "words":
            ids = formats.count(scheme.vocab_size)
            return (
                f"A word ends at white space or punctuation. A hash of its letters picks one of {ids} ids, so that two "
                f"words may share one. {told}"
            )
        case "characters":
            return f"A code point is a token. {told}"
        case "bytes":
            return f"Each byte of UTF-8 is a token: its id is the byte and {scheme.vocab_size - 256}. {told}"
    return f"It is one sign, or its tokenizer keeps no list of steps: nothing was merged. {told}"


def _of_merges(history: History) -> dict[str, Any]:
    """The merges of byte pairs that made a piece."""
    start, end = history.span
    within = merges_within(history.merges, start, end)
    begins = _part(history, history.signs[start:end])
    steps = [{"parts": begins, "made": -1, "note": "its bytes" if history.of_bytes else "its characters"}]
    done: list[Any] = []
    for merge in within:
        done.append(merge)
        parts = after_merges(history.signs, done)
        inside, made, place = list[str](), -1, 0
        for part in parts:
            if start <= place < end:
                made = len(inside) if place == merge.start else made
                inside.append(part)
            place += len(part)
        order = history.merges.index(merge) + 1
        note = f"merge {formats.count(merge.rank + 1)} of the list, step {order} in this word"
        steps.append({"parts": _part(history, inside), "made": made, "note": note})
    left_out = max(0, len(steps) - STEPS)
    made_by = f"{formats.plural(len(within), 'merge')} made this piece, of {len(history.merges)} in its word."
    if not within:
        made_by = f"No merge made this piece, of {len(history.merges)} in its word: it has stayed as it was."
    about = f"Byte pairs: of all neighbours, those are merged whose merge was learned first. {made_by}"
    about += f" The first {left_out} steps have no room." if left_out else ""
    return {"about": about, "steps": steps[left_out:]}


def _part(history: History, parts: Sequence[str]) -> list[str]:
    return [chip(in_text(part) if history.of_bytes else part) for part in parts]


def _of_matches(history: History) -> dict[str, Any]:
    """The candidates of WordPiece for a piece."""
    matches = history.matches
    match = matches[min(history.at, len(matches) - 1)]
    if not all(each.piece for each in matches):
        match = matches[-1]
    missing = match.tried[:-1] if match.piece else match.tried
    steps = [{"parts": [chip(tried)], "made": -1, "note": "not in the vocabulary"} for tried in missing]
    if match.piece:
        steps.append({"parts": [chip(match.piece)], "made": 0, "note": "in the vocabulary: taken"})
        about = (
            "WordPiece: from the left, the longest piece that the vocabulary has. "
            f"{formats.plural(len(match.tried), 'candidate')} looked up; ## goes on within a word."
        )
    else:
        about = "WordPiece has no piece for a part of this word, so the whole word is the unknown token."
    left_out = max(0, len(steps) - STEPS)
    about += f" The first {left_out} candidates have no room." if left_out else ""
    return {"about": about, "steps": steps[left_out:]}
