"""Why does this head look there? Scores, written vectors and logits, split exactly into what they came from.

    parts = attribute_score(model, tokens, layer=1, head=3, query=9, key=4)
    parts.parts          # (query source, key source): what each pair gave the score
    parts.total          # the scaled score before the mask: parts.parts.sum() + parts.scheme

- `sources`, `streams`: a residual stream as a sum over embeddings, positions, heads, networks and biases
- `scores`, `values`, `logits`: what each source gave a score, a head's output, a logit
- `graph`: all of a pass for one logit, from tokens through heads and networks
- `held_out`: what the numbers foretell beside what an intervention does
"""

from tfm_core.study.attribution.logits import LogitParts, attribute_logit
from tfm_core.study.attribution.scores import ScoreParts, attribute_score
from tfm_core.study.attribution.values import WrittenParts, attribute_written

__all__ = ["LogitParts", "ScoreParts", "WrittenParts", "attribute_logit", "attribute_score", "attribute_written"]
