"""The formula of each block, as LaTeX, for the configuration that is shown."""

from tfm_core import ATTENTION, POSITIONAL, TransformerConfig
from tfm_core.study.blocks import Block

ACTIVATION = {
    "relu": r"\max(0, {x})",
    "gelu": r"{x}\,\Phi({x})",
    "silu": r"{x}\,\sigma({x})",
}


def formulas(block: Block, config: TransformerConfig) -> list[str]:
    """One line, or several; Vaswani et al. 2017, Ba et al. 2016, Shazeer 2020, Katharopoulos et al. 2020."""
    match block.kind:
        case "embedding":
            return [r"x_i = \sqrt{d_{\mathrm{model}}}\; E_{\mathrm{token}(i)}"]
        case "position":
            return [r"x_i \leftarrow x_i + p_i"]
        case "norm":
            return [r"\mathrm{LayerNorm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta"]
        case "self_attention" | "cross_attention":
            return [
                *_attention(block, config),
                r"\mathrm{MultiHead} = \mathrm{Concat}(\mathrm{head}_1, \dots)\,W^O + b^O",
            ]
        case "feed_forward":
            return [_feed_forward(config)]
        case "sum":
            return [
                r"x + \mathrm{SubLayer}(\mathrm{LayerNorm}(x))" if config.norm == "pre" else r"x + \mathrm{SubLayer}(x)"
            ]
        case "head":
            return [r"\mathrm{logits} = \Big(\frac{1}{n}\sum_i x_i\Big) W + b"]
        case _:
            return [r"\mathrm{logits} = x E^\top" if config.tie_embeddings else r"\mathrm{logits} = x W^\top"]


def _attention(block: Block, config: TransformerConfig) -> list[str]:
    """One head. The mask hides by adding minus infinity."""
    if block.kind == "self_attention" and not ATTENTION[config.attention].has_scores:
        return [
            r"\mathrm{head}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j) v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)},"
            r"\quad \phi(x) = \mathrm{elu}(x) + 1"
        ]
    ways = POSITIONAL[config.positional].enters() if block.kind == "self_attention" else ()
    query, key = (r"\tilde Q", r"\tilde K") if "rotate" in ways else ("Q", "K")
    bias = " + B" if "bias_at" in ways else ""
    source = r"\mathrm{memory}" if block.kind == "cross_attention" else "x"
    projected = rf"Q = x W^Q + b^Q,\quad K, V = {source}\, W^{{K,V}} + b^{{K,V}}"
    turned = [r"\tilde q_m = R_m q_m,\quad \tilde k_n = R_n k_n"] if "rotate" in ways else []
    softmax = rf"\mathrm{{head}} = \mathrm{{softmax}}\Big(\frac{{{query} {key}^\top}}{{\sqrt{{d_k}}}}{bias} + M\Big) V"
    patterned = block.kind == "self_attention" and ATTENTION[config.attention].pattern(1, 1) is not None
    pattern = rf"\text{{ and the }} \mathrm{{{config.attention}}} \text{{ pattern lets it}}" if patterned else ""
    mask = rf"M_{{mn}} = 0 \text{{ where }} m \text{{ may attend to }} n{pattern},\ -\infty \text{{ elsewhere}}"
    return [projected, *turned, softmax, mask]


def _feed_forward(config: TransformerConfig) -> str:
    if config.activation == "swiglu":
        return r"\mathrm{FFN}(x) = \big(\mathrm{SiLU}(x W_g + b_g) \odot (x W_1 + b_1)\big) W_2 + b_2"
    inner = r"x W_1 + b_1"
    name = {"relu": r"\mathrm{ReLU}", "gelu": r"\mathrm{GELU}", "silu": r"\mathrm{SiLU}"}.get(config.activation, "f")
    defined = ACTIVATION.get(config.activation, "").format(x="z") if config.activation in ACTIVATION else ""
    where = rf",\quad {name}(z) = {defined}" if defined else ""
    return rf"\mathrm{{FFN}}(x) = {name}({inner})\, W_2 + b_2{where}"
