"""Del in LlamaIndex: what a ReAct agent reads its steps with.

    from del_dialects.llama_index import DelOutputParser
    from llama_index.core.agent.workflow import ReActAgent

    agent = ReActAgent(tools=tools, llm=llm, output_parser=DelOutputParser(tools))

It is tested with llama-index-core 0.14.
"""

import json
from collections.abc import Iterable
from typing import Any

from llama_index.core.agent.react import ReActOutputParser
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep, ResponseReasoningStep

from ._frameworks import read
from ._lib import Dialect, Tools


class DelOutputParser(ReActOutputParser):  # type: ignore[misc]
    """Reads the step of a ReAct agent, whichever dialect the call in it is written in: that of the prompt, or the one that
    the model was trained on. An agent runs one call a step: of several, the first.

    A call that is broken, or whose arguments are not certain, is an error, of which the agent tells the model.
    """

    def __init__(self, tools: Iterable[Any] = (), dialect: str | Dialect = "auto") -> None:
        super().__init__()
        self._tools = Tools([tool.metadata.to_openai_tool() for tool in tools])
        self._dialect = dialect

    def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:
        piece = read(output, self._dialect, self._tools)
        if piece.calls:
            call = piece.calls[0]
            if call.guesses:
                raise ValueError(call.refusal)
            thought = piece.content.strip().removeprefix("Thought:").strip()
            return ActionReasoningStep(thought=thought, action=call.name, action_input=json.loads(call.arguments))
        if piece.refusals:
            raise ValueError("; ".join(piece.refusals))
        thought, found, answer = piece.content.rpartition("Answer:")
        thought = thought.strip().removeprefix("Thought:").strip() if found else piece.reasoning
        return ResponseReasoningStep(thought=thought, response=answer.strip(), is_streaming=is_streaming)
