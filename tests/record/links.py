"""The links that are recorded: every view of every lens, and other settings; addresses.py adds the lenses' questions.

They are not encoded as in an address bar, except that %0A is a new line. No link is ever removed, because old links
must keep their meaning.
"""

PRESETS = (
    "?",
    "?d_model=256&num_heads=16&num_layers=8",
    "?seed=2",
    "heads?",
    "heads?text=the dog saw the man and the man saw the dog&seq_len=11&positional=none&causal=false",
    "heads?causal=false",
    "heads?weights=lab-gpt&heads_view=roles&heads_layer=4&heads_head=3&heads_breaks=repeats",
    "heads?weights=lab-gpt&heads_view=roles&heads_role=article&heads_layer=3&heads_head=2",
    "heads?num_heads=16",
    "heads?text=@alice&seq_len=512&num_heads=8&num_layers=4&positional=alibi",
    "heads?architecture=encoder-decoder&heads_kind=cross",
    "attention?",
    "attention?d_model=256&num_heads=1&attention_scaled=false",
    "attention?attention_view=arcs&attention_mass=50",
    "attention?attention_view=arcs&attention_layer=2&attention_lines=rollout",
    "attention?num_heads=16&attention_view=contribution&attention_head=6&attention_query=2&attention_key=1",
    "attention?num_heads=16&seed=2&attention_view=contribution&attention_layer=2&attention_head=5",
    "attention?attention_view=change",
    "attention?attention_view=change&attention_query=3&attention_key=8&attention_changes=weight 1.1 3>8 0.5",
    "attention?d_model=256&num_heads=1&attention_view=scale",
    "attention?attention_view=dictionary&attention_entries=0.8,0.3,10 1.8,0.1,20 -1,0.5,30 0,-1.2,40"
    "&attention_ask=0.8,0.3",
    "positions?",
    "positions?positions_view=why&positions_b=nothing&positions_width=2",
    "positions?positions_view=why",
    "positions?positions_view=why&positions_claim=by distance",
    "positions?positions_view=why&positions_claim=shift matrix",
    "positions?positions_view=why&positions_claim=shift error",
    "positions?positions_view=why&positions_claim=told apart",
    "positions?positions_view=why&positions_claim=turned scores",
    "positions?positions_a=alibi&positions_b=t5&positions_length=160",
    "positions?positional=none&causal=false&positions_view=model&positions_a=none&positions_b=sinusoidal",
    "positions?positions_view=beyond&positions_a=learned&positions_length=128&positions_max_len=64",
    "positions?positions_view=fault",
    "positions?positions_b=nothing&positions_width=512&positions_length=4096&positions_dims=200 256 320 384 448 510",
    "masks?",
    "masks?masks_item=1&masks_mask=window 3",
    "masks?causal=false&masks_item=1&masks_mask=window 3 or global 1",
    "masks?masks_item=1&masks_mask=documents 4 3",
    "masks?causal=false&masks_view=leaks&masks_item=1&masks_mask=causal 1 and padding&masks_promise=causal and padding",
    "masks?seq_len=8&num_layers=8&causal=false&masks_view=leaks&masks_item=1&masks_mask=window 2",
    "masks?masks_view=leaks&masks_item=1&masks_mask=&masks_paint=2x9.TAAAACQ",
    "masks?causal=false&masks_view=padding",
    "masks?masks_view=padding&masks_mask=cross",
    "masks?masks_view=without_key",
    "masks?causal=false&masks_view=without_key&masks_empty_in=all layers&masks_mask=cross&masks_row=7",
    "masks?masks_view=conventions&masks_convention=MHA, attn_mask per head",
    "profiling?",
    "profiling?profiling_sizes=128, 8, 4, 200&profiling_targets=with weights,without weights,fused",
    "profiling?profiling_sizes=128, 8, 4, 50%0A128, 8, 4, 200&profiling_targets=with weights,LSTM,GRU,convolution",
    "profiling?norm=post&activation=relu&causal=false&profiling_sizes=64, 4, 2, 50%0A128, 8, 4, 50%0A256, 8, 6, 50"
    "&profiling_embedding=true&profiling_vocabulary=1000",
    "profiling?profiling_sizes=128, 8, 4, 50%0A128, 8, 4, 50",
    "profiling?profiling_view=length",
    "profiling?profiling_view=length&profiling_target=fused",
    "profiling?d_model=64&d_ff=256&profiling_view=length&profiling_longest=1024",
    "profiling?profiling_view=parts&profiling_row=5",
    "profiling?profiling_view=roofline",
)

HOME = (
    "?text=👩‍👩‍👧 🦊 e\u0301t\u00e9 שלום&tokenizer=character&seq_len=14",
    "?architecture=encoder-decoder&target=ein ganz anderes Ziel&seed=11",
    "?architecture=decoder&text=@gettysburg&seq_len=300&norm=post&activation=swiglu",
    "?causal=false&positional=learned&tokenizer=byte&text=ab&seq_len=9",
    "?text= ",
    "?weights=random",  # what "?" showed before Home opened on trained weights
    "?weights=induction",  # what "?" showed before Home opened on Lab GPT
)

TRAINED = (
    "heads?weights=induction&heads_layer=2",
    "heads?weights=reverse-decoder&heads_kind=cross&text=@3",
    "heads?weights=translation&heads_kind=cross&text=@2",
    "heads?weights=question-answering&text=@1",
    "attention?weights=induction&attention_view=change&attention_layer=2&attention_changes=silence 2.1",
    "positions?weights=reverse&positions_a=learned",
    "positions?weights=reverse&positions_view=model&positions_a=learned&positions_b=none",
    "masks?weights=reverse&masks_mask=causal and padding&masks_item=1",
    "model?weights=reverse&model_view=output&model_token=1",
    "model?weights=dates&model_view=block",
)

HEADS = (
    *(f"heads?positional={scheme}&heads_layer=2&heads_head=3" for scheme in ("none", "learned", "rope", "alibi", "t5")),
    "heads?architecture=encoder-decoder&heads_kind=decoder&text=a b c d e f&target=u v w x y z&seq_len=6",
    "heads?architecture=decoder&num_layers=3&num_heads=8&d_model=64&seed=5&heads_layer=3&heads_head=8&heads_scale=own",
    "heads?text=one two three&seq_len=9&norm=post&activation=relu&d_ff=40&heads_scale=0.1&causal=false",
    "heads?text=🦊 says <b>hi</b> %26 %2B 日本&tokenizer=byte&seq_len=24&heads_scale=choice",
    "heads?heads_head=9&seq_len=10000&num_heads=7&positional=nonsense&text=four bad values",
)

DECODERS = "architecture=encoder-decoder&target=die graue Katze war sehr müde"
ATTENTION = (
    *(
        f"attention?positional={scheme}&attention_layer=2&attention_head=3&attention_step={step}&attention_query=4"
        "&attention_key=3"
        for scheme, step in (
            ("none", "input"),
            ("learned", "query"),
            ("rope", "scores"),
            ("alibi", "scaled"),
            ("t5", "masked"),
        )
    ),
    f"attention?{DECODERS}&attention_kind=cross&attention_step=output&attention_channel=7&attention_whole=false",
    "attention?architecture=decoder&attention_masked=false&attention_temperature=0.5&attention_step=head output"
    "&attention_dim=3",
    "attention?text=@jack&seq_len=128&attention_step=weighted values&attention_query=100&attention_key=90",
    "attention?attention_view=arcs&attention_lines=max&attention_query=8&attention_heads=2 3&attention_hide=first",
    f"attention?attention_view=arcs&{DECODERS}&attention_kind=cross&attention_lines=mean&attention_tokens=q2 k3",
    "attention?attention_view=arcs&text=@alice&seq_len=200&positional=rope&attention_lines=rollout&attention_layer=2",
    f"attention?attention_view=contribution&{DECODERS}&attention_kind=decoder&attention_layer=2",
    "attention?attention_view=contribution&positional=alibi&text=one two three&seq_len=8&causal=false",
    "attention?attention_view=why&attention_layer=2&attention_head=3&positional=alibi&causal=false&attention_out=query"
    "&attention_from_query=1.2&attention_from_key=embedding",
    f"attention?attention_view=why&{DECODERS}&attention_kind=cross&attention_layer=2&norm=post&attention_query=3",
    "attention?attention_view=why&text=@alice&seq_len=200&positional=rope&attention_layer=2&attention_query=150"
    "&attention_key=140",
    "attention?attention_view=why&weights=induction&attention_layer=2&attention_query=32&attention_key=5"
    "&attention_out=key&attention_from_key=1.1",
    "attention?attention_view=written&attention_layer=2&attention_head=2&attention_from_key=1n",
    "attention?attention_view=written&attention_layer=1&attention_head=4&attention_query=2&attention_key=2"
    "&attention_trail=2.1.6.2k",
    f"attention?attention_view=logit&{DECODERS}&norm=post&attention_rank=3&attention_against=0",
    "attention?attention_view=graph&attention_share=2&attention_from_key=embedding@6",
    f"attention?attention_view=graph&{DECODERS}&norm=post&positional=t5",
    "attention?attention_view=change&attention_changes=drop 2; silence 1.1; swap 3 5; replace 4 dog; zero 2.2 3"
    "&attention_layer=2",
    f"attention?attention_view=change&{DECODERS}&attention_kind=cross"
    "&attention_changes=weight cross 1.2 3>2 0.5 raw; drop target 2; silence decoder 1.3",
    "attention?attention_view=change&attention_pinned=silence 1.2&attention_changes=zero 1 3&positional=t5"
    "&attention_head=2",
    "attention?attention_view=scale&attention_draws=50&attention_draw_keys=8&attention_draw_seed=3&num_heads=2",
    "attention?attention_view=dictionary",
)

POSITIONS = (
    *(f"positions?positions_a={a}&positions_b={b}&positions_width=33&positions_heads=3&positions_length=40"
      for a, b in (("none", "learned"), ("learned", "sinusoidal"), ("rope", "alibi"), ("t5", "rope"),
                   ("alibi", "none"))),
    "positions?positions_a=t5&positions_b=nothing&architecture=decoder&positions_bias_scale=each its own"
    "&positions_head=3",
    "positions?positions_base=100&positions_position=30&positions_dims=3 5&positions_part=8,4,16,12",
    *(f"positions?positions_view=why&positions_a={a}&positions_b={b}&positions_measure={measure}&positions_shift=3"
      for a, b, measure in (("learned", "sinusoidal", "distance"), ("rope", "alibi", "dot product"),
                            ("t5", "learned", "dot product"), ("none", "rope", "distance"))),
    *(f"positions?positions_view=model&positional={scheme}&positions_layer=2&positions_model_head=2"
      f"&positions_a={scheme}&positions_shuffle=4" for scheme in ("sinusoidal", "learned", "rope", "alibi", "t5")),
    f"positions?positions_view=model&{DECODERS}&causal=false",
    "positions?positions_view=beyond",
    "positions?positions_view=beyond&positions_a=sinusoidal&positions_b=t5&positions_length=96&positions_base=500",
    "positions?positions_view=beyond&positions_a=alibi&positions_b=nothing&positions_head=4&positions_max_len=20",
    "positions?positions_view=fault&positions_batch=4&positions_item=3&positional=learned",
    "positions?positions_view=fault&positional=none&text=🦊 🐺 🦊",
    "positions?positions_view=pairing&positional=rope&architecture=decoder&tokenizer=byte&text=abc",
    "positions?positions_view=pairing&weights=reverse",
    "positions?positions_pairing=neighbours&positions_width=16",
    "positions?positions_view=table",
    "positions?positions_view=table&positions_a=t5&positions_b=learned&architecture=decoder",
)  # fmt: skip

MASKS = (
    "masks?masks_mask=causal and padding&positional=rope&masks_head=3&masks_layer=2",
    "masks?masks_mask=strided 3 or prefix 2&masks_paint=2x9.TAAAACQ&masks_item=1",
    "masks?masks_mask=&masks_paint=~s2.3_2.4~h1.1&masks_item=1&positional=alibi",
    f"masks?{DECODERS}&masks_place=cross&masks_mask=padding&masks_texts=ein Hund%0Anoch ein Satz&masks_item=3",
    f"masks?{DECODERS}&masks_place=decoder&masks_mask=prefix 2",
    "masks?architecture=decoder&masks_mask=window 4&text=@jack&seq_len=96&masks_part=0,0,40,40&masks_item=1",
    "masks?masks_mask=cross&masks_item=9",
    "masks?masks_view=leaks",
    "masks?masks_view=leaks&architecture=decoder&masks_mask=prefix 3&masks_promise=causal&masks_changed=3"
    "&masks_moved=1&masks_item=1&masks_tries=2",
    f"masks?masks_view=leaks&{DECODERS}&masks_place=cross&masks_mask=window 2&masks_promise=padding",
    "masks?masks_view=padding&masks_pad_side=left&masks_row=2&positional=learned",
    "masks?masks_view=padding&architecture=decoder&masks_mask=padding and window 2&masks_texts=a b%0Ac d e f%0Ag",
    f"masks?masks_view=padding&{DECODERS}&masks_place=cross",
    *(f"masks?masks_view=conventions&masks_convention={name}&causal={causal}"
      for name, causal in (("SDPA, boolean", "true"), ("SDPA, additive", "false"), ("MHA, attn_mask", "true"),
                           ("MHA, additive", "true"), ("HF, attention_mask", "false"), ("HF, causal model", "true"),
                           ("HF, 4-D", "true"))),
)  # fmt: skip

CLINIC = (
    "clinic?clinic_pasted=0 -inf -0.5%0A0 0 -1e9%0A0 0 0",
    "clinic?clinic_pasted=torch.triu(torch.ones(n, n), diagonal=0).bool()",
    "clinic?clinic_pasted=this is no mask",
    "clinic?clinic_meaning=ignore&clinic_pasted=1 0 0%0A1 1 0%0A1 1 1",
    "clinic?clinic_view=tensor&clinic_tokens=4&clinic_mistake=W_O missing",
    "clinic?clinic_view=tensor&clinic_result=2.5&clinic_step=loss",
    *(f"clinic?clinic_view=beside&clinic_mistake={name}"
      for name in ("positions from 1", "RoPE on values", "ALiBi’s sign", "diagonal hidden", "softmax over the heads",
                   "weights averaged over heads", "residual after the norm", "loss shifted twice")),
    "clinic?clinic_view=code&clinic_check=check_layer_norm",
)  # fmt: skip

PROFILING = (
    "profiling?profiling_targets=with weights,nn.TransformerEncoder,window,strided,nn.MultiheadAttention"
    "&profiling_sizes=64 4 2 50&profiling_batch=3&positional=alibi",
    "profiling?architecture=encoder-decoder&profiling_embedding=true&profiling_sizes=64 4 2 50 99%0Anonsense"
    "&profiling_dtype=bfloat16",
    "profiling?architecture=decoder&profiling_view=length&profiling_longest=256&profiling_backward=false&d_ff=100",
    "profiling?profiling_view=parts&profiling_row=2&profiling_sizes=8 2 1 4%0A8 2 1 5&profiling_targets=LSTM"
    "&profiling_batch=3",
    "profiling?profiling_view=roofline&profiling_targets=with weights,GRU&profiling_sizes=64 4 2 50",
    "profiling?profiling_baseline=3#measured",
    "profiling?profiling_targets=with weights,LSTM&profiling_sizes=64 4 2 50&profiling_rounds=5#measured",
    "profiling?profiling_view=length&profiling_longest=512#measured",
    "profiling?profiling_view=parts&profiling_row=3&profiling_dtype=float64#measured",
    "profiling?profiling_view=roofline#measured",
)

TWELVE = "text=one two three four five six seven eight nine ten eleven twelve"
TOKENS = (  # as many as the text has, or as many as the link says
    f"heads?{TWELVE}",
    f"heads?{TWELVE}&seq_len=10",
    "positions?positions_view=fault&positional=none&text=🦊 🐺 🦊&seq_len=10",
    "attention?architecture=encoder-decoder&text=a b c&target=eins zwei drei vier fünf&attention_kind=cross",
    "masks?masks_view=padding&text=a b c",
)

MODEL = (
    "model?",
    *(f"model?model_view={view}"
      for view in ("block", "feed_forward", "depth", "distance", "efficient", "output")),
    *(f"model?weights=lab-gpt&model_view={view}" for view in ("block", "feed_forward", "efficient", "output")),
    f"model?{DECODERS}&model_stack=decoder&model_block=cross_attention&model_layer=2&model_all_layers=true",
    "model?model_shape=GPT-2 small",
    "model?model_shape=your numbers&model_own_heads=40&model_own_layers=2",
    "model?norm=post&model_view=block&model_sub_layer=feed-forward&model_step=sum&model_dropout=0.3&model_block_dim=5",
    "model?model_view=block&model_sub_layer=embedding",
    "model?activation=swiglu&model_view=feed_forward&model_unit=7&model_token=3&model_ffn_size=512 / 2,048",
    "model?model_view=depth&model_depth=6&model_depth_dropout=0",
    "model?causal=false&model_view=distance&model_reach_length=16&model_reach_seeds=3&model_reach_start=torch",
    *(f"model?model_view=efficient&model_attention={attention}&model_head=2&model_tile=2&model_tile_step=3"
      for attention in ("window", "strided", "linear", "fused")),
    "model?positional=alibi&model_view=output&model_temperature=0.5&model_tied=false&model_top=3&model_token=99",
    *(f"model?weights=lab-bert&model_view={view}" for view in ("block", "output", "sentences", "masked")),
    "model?weights=lab-bert&text=Transformers have revolutionized natural language processing.&model_view=sentences"
    "&model_lines=A cat.\nA dog.",
    "model?weights=lab-bert&text=She was very [MASK] to see him.&model_view=masked&model_top=4",
    "model?model_view=sentences",
    "model?model_view=masked",
    "heads?weights=lab-bert",
    "model?model_view=tokens",
    "model?model_view=tokens&text=[CLS] and <|start|> 👨‍👩‍👧 cаt مرحبا น้ำเย็น&model_cut=bytes&model_piece=20",
    "model?model_view=tokens&text=@alice&model_cut=WordPiece&model_piece=70",
    "model?model_view=tokens&text=café&model_second=café",
    *(f"model?model_view=tokens&model_show=languages&model_measure={measure}"
      for measure in ("times English", "tokens a word", "tokens a character", "bytes a token")),
    "model?model_view=tokens&model_show=batch&model_cut=WordPiece",
    "model?model_view=tokens&model_show=batch&model_cut=WordPiece&model_paired=true&model_row_length=8",
)  # fmt: skip

LAB = "weights=lab-gpt&text=The captain looked at the sea, and"
GENERATE = (
    "generate?",
    *(f"generate?{LAB}&generate_view={view}" for view in ("look", "kept", "surprise")),
    *(f"generate?generate_view={view}" for view in ("look", "kept", "surprise")),  # of random weights
    f"generate?{LAB}&generate_method=greedy&generate_steps=12&generate_step=3",
    f"generate?{LAB}&generate_method=beam&generate_steps=10&generate_width=2",
    f"generate?{LAB}&generate_temperature=1.5&generate_top_k=5&generate_top_p=0.9&generate_min_p=0.1&generate_seed=3"
    "&generate_steps=20&generate_forced=2.417 5.88 bad",
    f"generate?{LAB}&generate_view=look&generate_steps=9&generate_step=4&generate_layer=2&generate_head=3",
    f"generate?{LAB}&generate_shows=attention&generate_method=beam&generate_steps=6",
    f"generate?{LAB}&generate_view=surprise&generate_against=random weights&generate_at=3",
    f"generate?{LAB}&generate_view=surprise&generate_against=short memory&generate_memory=2",
    f"generate?{LAB}&generate_view=surprise&generate_other=The sea looked at the captain, and",
    "generate?architecture=decoder&text=one two three&generate_steps=200&generate_full=stop",
    "generate?causal=false",
    f"generate?{DECODERS}&generate_steps=5&generate_method=greedy",
    "generate?weights=reverse-decoder&generate_view=look",
)  # fmt: skip

TRAINING = (
    "training?",
    *(f"training?training_view={view}" for view in ("decode", "classify", "compare", "lengths")),
    *(f"training?training_task={task}&training_step=100&training_probe=2" for task in ("induction", "dates", "sort")),
    "training?training_task=copy&training_layers=1&training_heads=4&training_width=16&training_positional=rope"
    "&training_seed=5&training_steps=50",  # nobody has trained it
    "training?training_view=decode&training_pair=sort-decoder&training_source=3 1 2&training_written=2",
    "training?training_view=decode&training_pair=translation&training_source=on the twenty-first of March",
    "training?training_view=decode&training_pair=translation&training_source=one thirty",  # no number
    "training?training_view=decode&training_pair=question-answering",
    "training?training_view=decode&training_pair=summary&training_steps=50",  # nobody has trained it so
    "training?training_task=question-answering&training_probe=2",
    "training?training_view=classify&training_labelled=brackets&training_example=3",
    "training?training_view=classify&training_labelled=majority&training_pooling=first",
    *(f"training?training_view=compare&training_task=brackets&training_measure={measure}"
      for measure in ("whole examples", "loss", "steps to 99 %25")),
    "training?training_view=compare&training_task=authors",  # nobody has compared networks by it
    "training?training_view=lengths&training_task=brackets",
    "training?training_view=deep",
    "training?training_view=deep&training_drawn=loss curves&training_deep=12&training_warm=with",
    "training?training_view=deep&training_drawn=gradients&training_deep=6&training_at=100",
    "training?training_view=deep&training_good=right answers&training_warm=without",
    "training?training_view=sizes",
    "training?training_view=sizes&training_over=prose",
    "training?training_view=sizes&training_over=steps&training_part=1/9",
    "training?training_view=finetune",
    "training?training_view=finetune&training_against=seconds&training_way=frozen&training_shots=50",
    "training?training_view=finetune&training_tuned=speech&training_way=lora-8&training_shots=1000&training_layer=2"
    "&training_head=3",
    "training?training_view=finetune&training_seed=9",  # nobody has trained it
    "training?training_view=compare&training_tested=longer&training_task=authors&training_measure=loss",
)  # fmt: skip

LINKS = (
    *PRESETS, *HOME, *HEADS, *ATTENTION, *POSITIONS, *MASKS, *CLINIC, *PROFILING, *TOKENS, *TRAINED, *MODEL,
    *GENERATE, *TRAINING,
)  # fmt: skip
