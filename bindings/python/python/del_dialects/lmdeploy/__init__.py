"""Del in LMDeploy: `python -m del_dialects.lmdeploy serve api_server MODEL --tool-call-parser del --reasoning-parser del`.

LMDeploy loads no plugins, so this starts it with the parsers registered; a program that starts the server itself calls
`register` before. `del` reads all dialects at once; `del-NAME`, such as `del-qwen3-coder`, reads one. It is tested with
LMDeploy 0.18.
"""

from .._engine import names


def register() -> None:
    """Makes the parsers known by their names, and lets Del read whole answers where one of them is asked for."""
    from lmdeploy.serve.parsers import ResponseParserManager
    from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
    from lmdeploy.serve.parsers.tool_parser import ToolParserManager

    from .parsers import DelReasoningParser, DelResponseParser, DelToolParser

    for name, dialect in names().items():
        parser = type("DelToolParser", (DelToolParser,), {"dialect": dialect, "__module__": __name__})
        ToolParserManager.register_module(name, force=True, module=parser)
    ReasoningParserManager.register_module("del", force=True, module=DelReasoningParser)
    ResponseParserManager.register_module("default", force=True, module=DelResponseParser)
