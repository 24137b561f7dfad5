"""Recipes: scripts of plain Python that compute the numbers of a picture without the app.

A recipe is a function, so mypy checks it and tests run it. `script` turns it into a script: the imports that it needs,
its arguments as a header of parameters, and its body.

    def weights(*, config: TransformerConfig, inputs: Inputs, mask: Tensor | None, site: str, head: int) -> Tensor:
        \"\"\"The weights of one head, (query, key).\"\"\"
        model = Transformer(config).eval()
        with torch.no_grad(), recording("*.weights") as trace:
            model(*inputs, mask=mask)
        weights = trace[site][0, head]  # (query, key)
        return weights

    script(weights, **of_model(state), site="layers.0.self_attention.weights", head=2)

The last line, `return`, is left out: whoever runs the script finds the names that it returns. A script needs tfm_core
alone: functions of the app that the recipe calls are written into it, and they may use nothing else of the app.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable
from textwrap import dedent
from types import ModuleType
from typing import Any, Self

import tfm_core
from tfm_core import LAB_GPT, TransformerConfig
from tfm_core.pretrained import register
from tfm_core.pretrained.offered import has_name, pretrained_config, pretrained_prompt, pretrained_tokenizer
from tfm_core.pretrained.registered import registered, registered_prompt
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pretrained import Brought, known
from tfm_ui.state.samples import path, sample_name

HEADER = "# The parameters of this picture"
YOURS = "the folder of your checkpoint"  # to be put in by whoever copies a script: the app does not know it
# Modules that expressions in the header may name, also where the recipe's own file has no need of them.
IN_HEADERS = ("torch",)
APP = __name__.partition(".")[0]
THREADS = "torch.set_num_threads(1)  # as the app does: the last digit depends on it"


class Code(str):
    """An argument as an expression of Python, in place of its `repr`.

    Attributes:
        functions: that the expression names and `tfm_core` does not export: the script imports them.
    """

    __slots__ = ("functions",)
    functions: tuple[Callable[..., Any], ...]

    def __new__(cls, expression: str, *functions: Callable[..., Any]) -> Self:
        """An expression, and the functions that it names."""
        code = super().__new__(cls, expression)
        code.functions = functions
        return code


def script(recipe: Callable[..., Any], **arguments: Any) -> str:
    """A recipe as a script: imports, a header of parameters, the functions that it calls, its body.

    The script must be run from the project's folder, where the sample texts are.

    Args:
        recipe: a function that has only keyword arguments and ends in `return`.
        arguments: a value for each argument, in the order of the header. There may be more names than the recipe has
            arguments, because expressions in the header may use them.

    Raises:
        TypeError: if an argument is missing.
    """
    expected = inspect.signature(recipe).parameters
    if missing := [name for name in expected if name not in arguments]:
        raise TypeError(f"expected arguments for all of {list(expected)}, got none for {missing}")
    header = [f"{name} = {value if isinstance(value, Code) else repr(value)}" for name, value in arguments.items()]
    helpers = _helpers(recipe)
    sources = [inspect.getsource(helper).strip() for helper in helpers]
    body = _body(recipe)
    code = "\n".join([*header, *sources, body])
    modules = {_module_of(function) for function in (recipe, *helpers)}
    named = [function for value in arguments.values() if isinstance(value, Code) for function in value.functions]
    imports = _imports(modules, code, "\n".join(header), named)
    threads = [THREADS, ""] if "import torch" in imports else []
    functions = [text for source in sources for text in ("", "", source)] + [""] * bool(sources)
    return "\n".join([*imports, "", *threads, HEADER, *header, *functions, "", body])


def of_model(state: ModelState) -> dict[str, Code]:
    """The model's part of the header: `config`, the texts `source` and `target`, the model's `inputs`, its `mask`.

    The reader's text may look like a part of a script, so it is written as a literal.
    """
    encoded = {"source": tokens_code(state, text_of(state), state.length)}
    if state.is_encoder_decoder:
        encoded["target"] = tokens_code(state, text_of(state, "target"), len(state.target_tokens.ids))
    inputs = ", ".join(f"{name}.batch" for name in encoded)
    mask = f"causal_mask({state.length})" if state.masks_the_future else "None"
    return {"config": config_of(state), **encoded, "inputs": Code(f"[{inputs}]"), "mask": Code(mask)}


def config_of(state: ModelState) -> Code:
    """The expression for the configuration of the sidebar's model."""
    return config_code(state.config)


def config_code(config: TransformerConfig) -> Code:
    """The expression for a configuration, with the fields that differ from the defaults."""
    fields = {name: getattr(config, name) for name in config.__dataclass_fields__}
    default = type(config)(vocab_size=config.vocab_size)
    if has_name(config):
        return Code(f"pretrained_config({config.weights!r})", pretrained_config)
    if (brought := known(config.weights)) and config == brought.config and config != LAB_GPT:
        return Code(f"register({YOURS!r}, {config.weights!r})", register)
    changed = {k: v for k, v in fields.items() if k == "vocab_size" or v != getattr(default, k)}
    return Code(f"TransformerConfig({', '.join(f'{name}={value!r}' for name, value in changed.items())})")


def tokens_code(state: ModelState, text: str, count: int) -> Code:
    """The expression for the tokens of a text, which is an expression itself, as this model reads it."""
    if state.is_lab_gpt:
        return Code(f"lab_prompt({text}, {count})")
    if isinstance(state.pretrained, Brought):
        return Code(f"registered_prompt({state.weights!r}, {text}, {count})", registered_prompt)
    if state.pretrained:
        return Code(f"pretrained_prompt({state.weights!r}, {text}, {count})", pretrained_prompt)
    return Code(f"encode({text}, {tokenizer_of(state)}, {count})")


def tokenizer_of(state: ModelState) -> Code:
    """The expression for what cuts texts into tokens: a name, or what the weights were trained with."""
    if state.is_lab_gpt:
        return Code("lab_tokenizer()")
    if isinstance(state.pretrained, Brought):
        return Code(f"registered({state.weights!r}).tokenizer", registered)
    if state.pretrained:
        return Code(f"pretrained_tokenizer({state.weights!r})", pretrained_tokenizer)
    return Code(f"TASKS[{state.trained.task!r}].tokenizer" if state.trained else repr(state.tokenizer))


def text_of(state: ModelState, which: str = "text") -> str:
    """The expression for what is read of a text box, "text" or "target": a literal, or how a sample's file is read."""
    typed, read = (state.target, state.read_target) if which == "target" else (state.text, state.read_text)
    name = None if state.trained else sample_name(typed)
    return f'Path({path(name)!r}).read_text(encoding="utf-8").rstrip("\\n")' if name else repr(read)


def _body(recipe: Callable[..., Any]) -> str:
    """The lines of a function's body without its docstring and its last `return`."""
    text = dedent(inspect.getsource(recipe))
    definition = ast.parse(text).body[0]
    assert isinstance(definition, ast.FunctionDef)
    statements = definition.body[1:] if ast.get_docstring(definition) else definition.body
    if not isinstance(statements[-1], ast.Return):
        raise TypeError(f"expected a recipe that ends in return, got {definition.name}")
    first = (definition.body[0].end_lineno or 0) if ast.get_docstring(definition) else definition.body[0].lineno - 1
    return dedent("\n".join(text.splitlines()[first : statements[-1].lineno - 1])).strip("\n")


def _helpers(recipe: Callable[..., Any]) -> list[Callable[..., Any]]:
    """The functions of the app that it calls, and those that these call, the innermost first."""
    helpers: dict[str, Callable[..., Any]] = {}

    def visit(function: Callable[..., Any]) -> None:
        for name in _names(inspect.getsource(function)):
            helper: Any = vars(_module_of(function)).get(name)
            of_app = inspect.isfunction(helper) and helper.__module__.partition(".")[0] == APP
            if of_app and helper not in (function, recipe) and name not in helpers:
                visit(helper)
                helpers[name] = helper

    visit(recipe)
    return list(helpers.values())


def _module_of(function: Callable[..., Any]) -> ModuleType:
    return sys.modules[function.__module__]


def _names(code: str) -> list[str]:
    """The names that occur in code."""
    return [node.id for node in ast.walk(ast.parse(dedent(code))) if isinstance(node, ast.Name)]


def _imports(modules: Iterable[ModuleType], code: str, header: str, named: Iterable[Callable[..., Any]]) -> list[str]:
    """The imports of these files that code needs, and those of expressions in the header, which name functions."""
    needed, lines = set(_names(code)), list[str]()
    available: dict[str, list[str]] = {}
    for function in named:
        available.setdefault(function.__module__, []).append(function.__name__)
    for node in (node for module in modules for node in ast.parse(inspect.getsource(module)).body):
        if isinstance(node, ast.Import):
            used = (alias for alias in node.names if (alias.asname or alias.name.partition(".")[0]) in needed)
            lines += [f"import {ast.unparse(alias)}" for alias in used]
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] != APP:
            for alias in node.names:
                if alias.name in needed:
                    available.setdefault(node.module, []).append(alias.name)
    in_header = set(_names(header))
    lines += [f"import {module}" for module in IN_HEADERS if module in in_header]
    available.setdefault("tfm_core", []).extend(name for name in tfm_core.__all__ if name in in_header)
    if "Path" in needed:
        available.setdefault("pathlib", ["Path"])
    froms = [f"from {name} import {', '.join(sorted(set(names)))}" for name, names in available.items() if names]
    return sorted(set(lines)) + sorted(froms, key=lambda line: (not line.startswith("from pathlib"), line))
