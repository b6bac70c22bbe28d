"""Del in vLLM: `--tool-call-parser del --reasoning-parser del`.

vLLM calls `register` when it starts, in each of its processes. `del` reads all dialects at once; `del-NAME`, such as
`del-qwen3-coder`, reads one. It is tested with vLLM 0.31 to 0.33.
"""

from typing import Any

from .._engine import names

_TOOLS, _REASONING = "DelToolParser", "DelReasoningParser"


def register() -> None:
    """Makes the parsers known. What they are is imported when one is asked for."""
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    for name in names():
        ToolParserManager.register_lazy_module(name, __name__, f"{_TOOLS}:{name}")
        ReasoningParserManager.register_lazy_module(name, __name__, f"{_REASONING}:{name}")


def __getattr__(name: str) -> Any:
    """The class that a parser's name stands for: vLLM knows classes alone, not what they are made with."""
    kind, _, parser = name.partition(":")
    if kind not in (_TOOLS, _REASONING) or parser not in names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .reasoning import DelReasoningParser
    from .tools import DelToolParser

    base = {_TOOLS: DelToolParser, _REASONING: DelReasoningParser}[kind]
    made = type(kind, (base,), {"dialect": names()[parser], "__module__": __name__})
    globals()[name] = made
    return made
