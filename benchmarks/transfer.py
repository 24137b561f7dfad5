"""What one tick sends to the browser, beside the HTML that BertViz's head_view makes of the same weights."""

import json
import statistics
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from playwright.sync_api import Browser, WebSocket

from benchmarks.live.press import Clocked, can_show, link, parameters
from benchmarks.live.serve import chromium, running_app
from benchmarks.measure import Figure, Figures, show, verdict
from tfm_core import Transformer, causal_mask, recording
from tfm_ui.state.model_state import ModelState

SIZES = (32, 128, 512)
LAYERS, HEADS = 4, 8
PRESSES = 3
BAR = 20


def _figure(tokens: int, causal: bool) -> Figure:
    what = f"Bytes of one tick, {tokens} tokens, {LAYERS} x {HEADS} heads, {'causal' if causal else 'no mask'}"
    return Figure(what, "the HTML of BertViz's head_view", "times less", "{:.0f}")


FIGURES = [_figure(tokens, causal) for tokens in SIZES for causal in (False, True)]


def main(sizes: Sequence[int] = SIZES) -> Figures:
    """Bytes of a step of the Tokens slider on Heads, with a causal mask (half of the weights are 0) and without."""
    try:
        bertviz = import_module("bertviz")  # not at the top: it has no types, and tests run without it
    except ImportError:
        print("\nbytes: BertViz is missing; install it with pip install -r requirements-benchmarks.txt")
        return {}
    rows: list[Sequence[object]] = []
    figures: Figures = {}
    with running_app() as address, chromium() as browser:
        for tokens in sizes:
            if not can_show(tokens):
                rows.append([tokens, "the app does not offer it"])
                continue
            for causal in (False, True):
                more: dict[str, Any] = {"seed": PRESSES - 1, "num_layers": LAYERS, "num_heads": HEADS, "causal": causal}
                weights, pieces = recorded(ModelState(**parameters(tokens, **more)))
                sent, shown = tick(browser, address + link("/heads", tokens, **more))
                np.testing.assert_allclose(shown, weights[0, 0], atol=1e-6, err_msg="the app shows other weights")
                theirs = head_view(bertviz, weights, pieces)
                times = figures[_figure(tokens, causal)] = theirs / sent
                mask = "causal" if causal else "none"
                bar = verdict(times, BAR, at_least=True)
                rows.append([tokens, mask, f"{sent:,}", f"{theirs:,}", f"{times:.1f}", bar])
    show(
        f"Bytes of one tick, {LAYERS} layers x {HEADS} heads, beside BertViz's head_view of the same weights",
        ["tokens", "mask", "a tick", "head_view", "times less", "bar"],
        rows,
    )
    return figures


def recorded(state: ModelState) -> tuple[NDArray[np.float32], list[str]]:
    """The weights of a model, (layer, head, query, key), computed without the app; and its tokens."""
    tokens = state.source_tokens
    mask = causal_mask(state.length) if state.masks_the_future else None
    with torch.no_grad(), recording("*.self_attention.weights") as trace:
        Transformer(state.config).eval()(tokens.batch, mask=mask)
    return torch.cat(list(trace.values())).numpy(), list(tokens.pieces)


def head_view(bertviz: Any, weights: NDArray[np.float32], pieces: list[str]) -> int:
    """Bytes of the HTML, after a check that it contains the first row of the first head with all its digits."""
    attention = [layer[None] for layer in torch.from_numpy(weights)]
    html: str = bertviz.head_view(attention, pieces, html_action="return").data  # ASCII: a character is a byte
    begin = html.index("[[[[") + 3
    row = json.loads(html[begin : html.index("]", begin) + 1])
    assert row == weights[0, 0, 0].tolist(), "BertViz holds other weights"
    return len(html)


def tick(browser: Browser, address: str) -> tuple[int, NDArray[np.float64]]:
    """Bytes over websocket and HTTP of a step that leads to this state; and the weights of layer 1, head 1, there."""
    received = 0

    def frame(payload: str | bytes) -> None:
        nonlocal received
        received += len(payload.encode() if isinstance(payload, str) else payload)

    def loaded(event: dict[str, Any]) -> None:
        nonlocal received
        received += int(event["encodedDataLength"])

    def opened(socket: WebSocket) -> None:
        socket.on("framereceived", frame)

    lens = Clocked(browser, address, on_websocket=opened)
    network = lens.context.new_cdp_session(lens.page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", loaded)
    counts = []
    for number in range(PRESSES):
        lens.press("Tokens", "ArrowLeft")
        lens.fill("Seed", number)  # otherwise Streamlit sends only a hash, as the browser has the rest
        received = 0
        lens.press("Tokens", "ArrowRight")
        counts.append(received)
    panel = lens.page.locator(".st-key-panel_head")
    panel.get_by_role("button", name="Download", exact=True).click()
    with lens.page.expect_download() as download:  # the numbers of the picture, with all digits
        lens.page.get_by_role("button", name="CSV: ").click()
    table = np.loadtxt(download.value.path(), delimiter=",", skiprows=1, dtype=str, comments=None, quotechar='"')
    lens.close()
    return int(statistics.median(counts)), table[:, 1:].astype(np.float64)
