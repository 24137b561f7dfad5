"""One short text in five languages: how many tokens each tokenizer needs for it."""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core.language.cutting import Scheme, words_in
from tfm_core.language.translations import ORIGIN, TRANSLATIONS
from tfm_core.pretrained.schemes import scheme_of
from tfm_ui.lenses.model.tokens.schemes import TokensPanel, measured, scheme_code
from tfm_ui.lenses.model.tokens_fields import YOURS
from tfm_ui.live.script import Code, script
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import ABSENT, MAPS, Axis, Map
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats, units

ENGLISH = "English"
UNKNOWN = ("[UNK]", "<unk>")
WORDS = (
    "Thai and Chinese write no spaces between words, so nothing is said of words there: what a word is would be a "
    "question of a dictionary."
)


def counted(*, schemes: Mapping[str, Scheme], texts: Mapping[str, str]) -> NDArray[np.int64]:
    """How many tokens each text has by each scheme, (text, scheme)."""
    tokens = np.array([[len(scheme.cut(text).ids) for scheme in schemes.values()] for text in texts.values()])
    return tokens


class TokensLanguages(TokensPanel):
    """A map of languages and tokenizers."""

    title = "The same text in five languages"
    canvas = MAPS
    sources = (scheme_of, words_in)

    @property
    def how_to_read(self) -> str:
        about = {
            "tokens": "Tokens of the whole text.",
            "times English": "Tokens of the text, by those of the English one with the same tokenizer.",
            "tokens a word": f"Tokens by words: runs of letters between spaces and punctuation. {WORDS}",
            "tokens a character": "Tokens by Unicode characters.",
            "bytes a token": "Bytes of UTF-8 by tokens.",
        }[self.state.measure]
        return f"A row for each language, a column for each tokenizer. {about}"

    @property
    def shape(self) -> str:
        return f"{formats.plural(len(TRANSLATIONS), 'language')} × {formats.plural(len(self.names), 'tokenizer')}"

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Tokens, (language, scheme)."""
        return np.array([[len(self.cut(name, text).ids) for name in self.names] for text in TRANSLATIONS.values()])

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """What is shown, (language, scheme); NaN where it cannot be said."""
        if self.state.measure == "times English":
            times: NDArray[np.float64] = self.counts / self.counts[[*TRANSLATIONS].index(ENGLISH)]
            return times
        rows = [
            [measured(text, count)[self.state.measure] for count in row]
            for text, row in zip(TRANSLATIONS.values(), self.counts.tolist(), strict=True)
        ]
        return np.array(rows, np.float64)

    @cached_property
    def unknown(self) -> dict[tuple[int, int], int]:
        """(language, scheme), from 0 -> how many of its tokens are the unknown one; nothing where none is."""
        told = {}
        for j, name in enumerate(self.names):
            lost = {number for number, written in self.scheme(name).special.items() if written in UNKNOWN}
            for i, text in enumerate(TRANSLATIONS.values()):
                if count := sum(number in lost for number in self.cut(name, text).ids):
                    told[i, j] = count
        return told

    def times(self, language: str, name: str) -> float:
        """How many times the tokens of the English text a text has by a scheme."""
        of = self.counts[:, self.names.index(name)]
        languages = [*TRANSLATIONS]
        return float(of[languages.index(language)] / of[languages.index(ENGLISH)])

    def sentence(self) -> str:
        """Where the chosen tokenizer needs most beside English, and where it does best."""
        times = {language: self.times(language, self.chosen) for language in TRANSLATIONS if language != ENGLISH}
        most, least = max(times, key=times.__getitem__), min(times, key=times.__getitem__)
        column, languages = self.counts[:, self.names.index(self.chosen)].tolist(), [*TRANSLATIONS]
        return (
            f"{self.chosen} needs {formats.plural(column[languages.index(ENGLISH)], 'token')} for the English text. "
            f"For the {most} one it needs {formats.count(column[languages.index(most)])}, "
            f"{units.times(times[most])} as many, for the {least} one {formats.count(column[languages.index(least)])}, "
            f"{units.times(times[least])}. A model pays by the token: time, memory and context. {self._about_unknown()}"
        ).strip()

    def _about_unknown(self) -> str:
        """Where few tokens mean that the text is lost; "" if nowhere."""
        if not self.unknown:
            return ""
        (i, j), count = max(self.unknown.items(), key=lambda item: item[1] / self.counts[item[0]])
        return (
            f"Few tokens may mean that the text is lost: of the {formats.count(int(self.counts[i, j]))} that "
            f"{self.names[j]} makes of the {[*TRANSLATIONS][i]} text, {formats.count(count)} "
            f"{'says' if count == 1 else 'say'} nothing any more."
        )

    def laws(self) -> dict[str, bool]:
        """What bytes and characters must be."""
        texts = [*TRANSLATIONS.values()]
        by_bytes, by_characters = (self.counts[:, self.names.index(name)].tolist() for name in ("bytes", "characters"))
        return {
            "by bytes a text has as many tokens as UTF-8 has bytes": by_bytes == [len(t.encode()) for t in texts],
            "by characters it has as many as it has characters": by_characters == [len(text) for text in texts],
        }

    def table(self) -> pd.DataFrame:
        """All measures, a row for each language and tokenizer."""
        rows = [
            {
                "language": language,
                "tokenizer": name,
                **measured(text, int(self.counts[i, j])),
                "times English": self.times(language, name),
                "unknown": self.unknown.get((i, j), 0),
            }
            for i, (language, text) in enumerate(TRANSLATIONS.items())
            for j, name in enumerate(self.names)
        ]
        return pd.DataFrame(rows).set_index(["language", "tokenizer"])

    @property
    def tensors(self) -> Step | None:
        return Step(
            self.title,
            [held("tokens", ("language", "tokenizer"), self.counts.astype(np.int64), "how many each text has")],
            note=f"Languages: {', '.join(TRANSLATIONS)}. Tokenizers: {', '.join(self.names)}.",
        )

    def recipe(self) -> str:
        """A script that leaves `tokens`, as the map has them where tokens are shown."""
        codes = {name: scheme_code(name, self.model.weights) for name in self.names}
        pairs = ", ".join(f"{name!r}: {code}" for name, code in codes.items())
        functions = {function for code in codes.values() for function in code.functions}
        return script(counted, schemes=Code(f"{{{pairs}}}", *functions), texts=dict(TRANSLATIONS))

    def picture(self) -> Content:
        """The map."""
        values = np.where(np.isnan(self.values), ABSENT, self.values).astype(np.float32)
        there = values[np.isfinite(values)]
        whole = self.state.measure == "tokens"
        drawn = Map(name="", values=values, scale=from_zero(float(there.max())), unit=self.state.measure, whole=whole)
        columns = [name if name != YOURS else "yours" for name in self.names]
        return maps.content(
            [drawn],
            rows=Axis([*TRANSLATIONS], "the text in", "language"),
            columns=Axis(columns, "cut by", "tokenizer"),
            absent="this language writes no spaces between words",
            square=False,
        )


class TokensTexts(TokensPanel):
    """The texts themselves."""

    title = "The texts"

    def sentence(self) -> str:
        """Where they are from."""
        return f"All of it was {ORIGIN}. {WORDS}"

    @property
    def open_table(self) -> OpenTable:
        return OpenTable({}, not_on_phones=["characters", "bytes"])

    def table(self) -> pd.DataFrame:
        """A row for each language: the text, and how long it is."""
        rows = [
            (language, text, words_in(text) or None, len(text), len(text.encode()))
            for language, text in TRANSLATIONS.items()
        ]
        columns = ["language", "text", "words", "characters", "bytes"]
        return pd.DataFrame(rows, columns=columns).astype({"words": "Int64"}).set_index("language")
