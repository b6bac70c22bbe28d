"""Del in LangChain 1.x: tools for models without them, as a middleware of agents.

    from del_dialects.langchain import TextTools
    from langchain.agents import create_agent

    agent = create_agent(model, tools, middleware=[TextTools()])

It is tested with LangChain 1.4.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._frameworks import ReadCall, chosen, read, readable
from ._lib import Dialect, Tools, render_messages
from ._types import Detail


class TextTools(AgentMiddleware):  # type: ignore[misc]
    """Tools are told in the prompt, calls and results of the conversation are text there, and calls in the model's text
    become `tool_calls`. With `tell=False` the model is given its tools by the API, and only its text is read: for servers
    that leave calls in it.

    `dialect` is the one that the model is told of; left out, it is that of the model by its id, or `hermes`. All dialects
    are read. `detail="compact"` and `remind` are for very small models: fewer words, and the question again behind results.
    Tools
    that the provider runs itself are left to it. A call with uncertain arguments does not run, and the model is told so;
    `response_metadata["del"]` of a message has all `faults`. Tools of a `response_format` are not told.
    """

    def __init__(
        self, dialect: str | Dialect | None = None, *, tell: bool = True, detail: Detail = "full", remind: bool = False
    ) -> None:
        super().__init__()
        self.dialect, self.tell, self.detail, self.remind = dialect, tell, detail, remind

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return self._read(request, handler(self._told(request)))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return self._read(request, await handler(self._told(request)))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return _refused(request) or handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return _refused(request) or await handler(request)

    def _told(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        functions, provided = _sorted(request.tools)
        if not self.tell or not functions:
            return request
        conversation = [request.system_message] if request.system_message else []
        messages = convert_to_messages(
            render_messages(
                cast("list[dict[str, Any]]", convert_to_openai_messages([*conversation, *request.messages])),
                chosen(self.dialect, _name(request.model)),
                functions,
                _choice(request.tool_choice, provided),
                detail=self.detail,
                remind=self.remind,
            )
        )
        system = messages.pop(0) if isinstance(messages[0], SystemMessage) else None
        choice = request.tool_choice if provided else None
        return request.override(system_message=system, messages=messages, tools=provided, tool_choice=choice)

    def _read(self, request: ModelRequest[Any], response: ModelResponse[Any]) -> ModelResponse[Any]:
        functions, provided = _sorted(request.tools)
        if functions and _choice(request.tool_choice, provided) != "none":
            taken = {call["id"] or "" for said in request.messages for call in getattr(said, "tool_calls", ())}
            dialect, tools = readable(self.dialect), Tools(functions)
            response.result = [_with_calls(message, dialect, tools, taken) for message in response.result]
        return response


def _sorted(tools: Sequence[Any]) -> tuple[list[dict[str, Any]], list[Any]]:
    """The definitions of tools that the application runs, and the tools that the provider runs."""
    functions: list[dict[str, Any]] = []
    provided: list[Any] = []
    for tool in tools:
        definition = convert_to_openai_tool(tool)
        (functions if definition.get("type") == "function" else provided).append(definition)
    return functions, provided


def _choice(choice: Any, provided: list[Any]) -> str:
    if isinstance(choice, dict):
        choice = choice.get("function", choice).get("name")
    choice = {None: "auto", "any": "required", True: "required", False: "none"}.get(choice, choice)
    # Where the provider's tool is demanded, the application's are not to be called.
    return "none" if any(tool.get("name") == choice for tool in provided) else str(choice)


def _name(model: Any) -> str | None:
    """The model's id, under the names that classes of models have for it."""
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str)), None)


def _with_calls(message: BaseMessage, dialect: str | Dialect, tools: Tools, taken: set[str]) -> BaseMessage:
    if not isinstance(message, AIMessage) or message.tool_calls:
        return message
    cut = message.response_metadata.get("finish_reason") == "length"
    piece = read(str(message.text), dialect, tools, taken, cut=cut)
    content: Any = piece.content
    if isinstance(message.content, list):
        others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
        content = [*others, {"type": "text", "text": content}] if content else others
    more = dict(message.additional_kwargs)
    if piece.reasoning:
        more.setdefault("reasoning_content", piece.reasoning)
    guesses = {call.id: call.guesses for call in piece.calls if call.guesses}
    faults = [{"kind": fault.kind, "message": fault.message} for fault in piece.faults]
    metadata = message.response_metadata | {"del": {"faults": faults, "guesses": guesses}}
    update = {"content": content, "additional_kwargs": more, "response_metadata": metadata}
    calls = [
        {"name": call.name, "args": json.loads(call.arguments), "id": call.id, "type": "tool_call"} for call in piece.calls
    ]
    return message.model_copy(update=update | {"tool_calls": calls})


def _refused(request: Any) -> ToolMessage | None:
    """What the model is told in place of a result, where the call's arguments are not certain."""
    call = request.tool_call
    state = request.state
    messages = state["messages"] if isinstance(state, dict) else getattr(state, "messages", state)
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            guesses = message.response_metadata.get("del", {}).get("guesses", {}).get(call["id"])
            if not guesses:
                return None
            content = ReadCall(call["id"], call["name"], guesses=guesses).refusal
            return ToolMessage(content, tool_call_id=call["id"], name=call["name"], status="error")
    return None
