"""Questions had numbers in links until their names took the place: what each number stood for on that day.

Nothing is ever changed here. A question that gets another title keeps its name in links (`Question.link`), and a new
one needs no line: no link ever gave it a number.
"""

NAMES = {
    "home": """
        a-language-model a-trained-model first-look much-larger another-seed
    """,
    "heads": """
        first-row who-saw-whom looking-ahead many-heads a-long-text two-texts a-head-with-a-job the-token-before
        the-first-token what-came-last-time
    """,
    "attention": """
        step-by-step not-scaled half-of-the-weight rollout lines-on-prose looks-here-takes-there a-sink
        looks-and-takes-trained one-weight a-leak silence-what-was-learned silence-the-copy why-dk your-own-heads
        a-blend longer-keys-win nearly-a-look-up
    """,
    "positions": """
        two-ways slopes-and-buckets the-largest diagonals one-clock distance-alone same-head-other-positions
        without-an-order learned-by-place unseen-angles past-the-end the-wrong-axis what-becomes-of-it which-kind
        a-table-or-a-formula
    """,
    "masks": """
        hidden-columns sliding-window longformer packed-documents trained-to-see-all a-window-on-prose
        a-window-on-names no-leak leaky-by-one through-the-window one-cell-too-many padding-on-the-right
        without-the-mask one-nan one-row-per-sentence which-way-round
    """,
    "model": """
        the-parts the-papers-model gpt-2-small one-encoder-layer six-layers a-classifier a-small-gpt two-stacks
        one-words-way what-norms-take old-and-new training-mode norm-before-or-behind how-many-zeros smooth-or-not
        the-price-of-a-gate one-unit four-wirings all-the-same what-is-added draws-of-dropout what-still-arrives
        a-wide-convolution torchs-first-weights who-sees-less tile-by-tile linear-or-not the-implied-matrix
        the-likeliest-token a-low-temperature the-same-word-again after-each-layer a-model-that-knows
        layer-by-layer-on-prose surprised-by-prose
    """,
    "generate": """
        the-draw greedy temperature top-p another-way jobs looked-up a-row-a-token the-same-text a-long-text
        a-full-context where-it-is-sure word-order before-training a-short-memory
    """,
    "training": """
        reverse majority induction brackets too-fast reverse-written sort-written the-same-number-twice
        who-wrote-it for-longer textbook random-labels a-bag-of-brackets who-can-reverse is-attention-ahead
        one-layer-or-two four-times-as-long counting-further reversing-further
    """,
    "profiling": """
        first-look with-or-without-weights not-only-transformers a-textbooks-sizes the-same-twice
        four-times-the-length never-written-down overtaken where-most-of-it-is free-in-flops under-one-roof
        one-sequence
    """,
}
