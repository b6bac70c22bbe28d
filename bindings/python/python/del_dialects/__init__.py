"""Reads and writes the tool calls of language models, whichever dialect they are written in.

>>> import del_dialects as dd
>>> message = dd.parse('Let me look.\\n<tool_call>{"name": "list_dir", "arguments": {"path": "."}}</tool_call>')
>>> message.content
'Let me look.'
>>> message.calls[0].name, message.calls[0].loads()
('list_dir', {'path': '.'})

An answer that arrives in pieces is pushed as it comes:

>>> parser = dd.Parser("hermes")
>>> for piece in ["Let me look.\\n<tool_", 'call>{"name": "list_dir", "arg', 'uments": {}}</tool_call>']:
...     for event in parser.push(piece):
...         print(event)
Text(text='Let me look.')
CallStart(call=0, name='list_dir', id=None, dialect='hermes-json')
Args(call=0, json='{}')
CallEnd(call=0, id=None)
>>> parser.finish()
[]
"""

from ._lib import (
    Answers,
    Args,
    Call,
    CallEnd,
    CallStart,
    DelError,
    DetectError,
    Detection,
    Dialect,
    DialectError,
    Evidence,
    Fault,
    Grammar,
    GrammarError,
    Message,
    Parser,
    Reasoning,
    RenderError,
    TemplateError,
    Text,
    Tools,
    ToolsError,
    UnknownDialectError,
    __version__,
    convert_batch,
    detect,
    detect_file,
    dialects,
    grammar,
    neutralise,
    parse,
    parse_batch,
    render_answer,
    render_calls,
    render_definitions,
    render_messages,
    render_prompt,
    render_results,
    restore,
    restore_json,
)
from ._types import Event

__all__ = [
    "Answers",
    "Args",
    "Call",
    "CallEnd",
    "CallStart",
    "DelError",
    "DetectError",
    "Detection",
    "Dialect",
    "DialectError",
    "Event",
    "Evidence",
    "Fault",
    "Grammar",
    "GrammarError",
    "Message",
    "Parser",
    "Reasoning",
    "RenderError",
    "TemplateError",
    "Text",
    "Tools",
    "ToolsError",
    "UnknownDialectError",
    "__version__",
    "convert_batch",
    "detect",
    "detect_file",
    "dialects",
    "grammar",
    "neutralise",
    "parse",
    "parse_batch",
    "render_answer",
    "render_calls",
    "render_definitions",
    "render_messages",
    "render_prompt",
    "render_results",
    "restore",
    "restore_json",
]
