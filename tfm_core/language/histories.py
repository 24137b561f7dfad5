"""How a word became its tokens: the merges of byte-pair encoding in their order, the candidates of WordPiece.

The `tokenizers` library cuts texts, and tells nothing of the way. These functions go the same way step by step; tests
compare them with the library.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise


@dataclass(frozen=True)
class Merge:
    """A merge of two neighbours into one.

    Attributes:
        rank: its number in the list of merges, from 0: what was learned first is merged first.
        left, right: the two neighbours.
        start, middle, end: which signs of the word they stand for: left from start to middle, right from there to end.
    """

    rank: int
    left: str
    right: str
    start: int
    middle: int
    end: int

    @property
    def made(self) -> str:
        """What has become of the two."""
        return self.left + self.right


def merge_history(signs: Sequence[str], ranks: Mapping[tuple[str, str], int]) -> tuple[Merge, ...]:
    """All merges of a word, in the order in which they are made: Sennrich et al. 2016, section 3.2.

    Of all neighbours those are merged whose merge was learned first; of several such pairs, the one furthest to the
    left. That goes on until no neighbours have a merge.

    Args:
        signs: what the word begins as: a sign for each of its bytes, or its characters.
        ranks: pair of neighbours -> the number of its merge, from 0; no two pairs have one number.

    Examples:
        >>> from tfm_core.language.histories import merge_history
        >>> [merge.made for merge in merge_history("lower", {("l", "o"): 0, ("e", "r"): 1, ("lo", "w"): 2})]
        ['lo', 'er', 'low']
    """
    parts: list[str | None] = [*signs]
    after, before = list(range(1, len(parts) + 1)), list(range(-1, len(parts) - 1))
    end = len(parts)
    waiting = [
        (ranks[pair], at) for at, pair in enumerate(pairwise(signs)) if pair in ranks
    ]  # a rank stands for one pair, so that what has changed since is seen by it
    heapify(waiting)
    merges = []

    def wait(at: int) -> None:
        if at < 0 or after[at] == end:
            return
        pair = parts[at] or "", parts[after[at]] or ""
        if pair in ranks:
            heappush(waiting, (ranks[pair], at))

    while waiting:
        rank, at = heappop(waiting)
        left, middle = parts[at], after[at]
        right = parts[middle] if middle < end else None
        if left is None or right is None or ranks.get((left, right)) != rank:
            continue
        stop = after[middle]
        merges.append(Merge(rank, left, right, at, middle, stop))
        parts[at], parts[middle] = left + right, None
        after[at] = stop
        if stop < end:
            before[stop] = at
        wait(before[at])
        wait(at)
    return tuple(merges)


def after_merges(signs: Sequence[str], merges: Sequence[Merge]) -> list[str]:
    """What a word is after these merges, of which the first may be given alone: its parts from left to right."""
    ends = {at: at + 1 for at in range(len(signs))}
    for merge in merges:
        ends[merge.start] = merge.end
        del ends[merge.middle]
    return ["".join(signs[start:end]) for start, end in sorted(ends.items())]


def merges_within(merges: Sequence[Merge], start: int, end: int) -> tuple[Merge, ...]:
    """Those of a word's merges that made what stands from one of its signs to another, in their order."""
    return tuple(merge for merge in merges if start <= merge.start and merge.end <= end)


@dataclass(frozen=True)
class Match:
    """The search for a word's next piece.

    Attributes:
        start: where in the word the piece begins, from 0.
        tried: the candidates, from the longest to the last one that was looked up.
        piece: the last of them, if it is in the vocabulary; "" if none was.
    """

    start: int
    tried: tuple[str, ...]
    piece: str


def longest_match(
    word: str, vocabulary: AbstractSet[str], *, prefix: str = "##", longest: int = 100
) -> tuple[Match, ...]:
    """How WordPiece cuts a word, piece by piece: Wu et al. 2016, section 4.1; Schuster and Nakajima 2012.

    From the left, the longest piece that the vocabulary has is taken, then the longest one of the rest. Where it has
    none, the whole word is the unknown token: the last match has no piece then.

    Args:
        word: what is cut.
        vocabulary: all pieces.
        prefix: what a piece begins with that goes on within a word.
        longest: a word of more characters is unknown, and nothing is looked up.

    Examples:
        >>> from tfm_core.language.histories import longest_match
        >>> [match.tried for match in longest_match("whales", {"whale", "##s"})]
        [('whales', 'whale'), ('##s',)]
    """
    if len(word) > longest:
        return (Match(0, (), ""),)
    matches, start = [], 0
    while start < len(word):
        tried = []
        for end in range(len(word), start, -1):
            tried.append((prefix if start else "") + word[start:end])
            if tried[-1] in vocabulary:
                break
        taken = tried[-1] if tried[-1] in vocabulary else ""
        matches.append(Match(start, tuple(tried), taken))
        if not taken:
            break
        start += len(taken) - (len(prefix) if start else 0)
    return tuple(matches)


def pieces_of(matches: Sequence[Match], unknown: str = "[UNK]") -> list[str]:
    """The pieces that a search ends with: those that matched, or the unknown token alone."""
    pieces = [match.piece for match in matches]
    return pieces if all(pieces) else [unknown]
