"""The provider in LiteLLM, in front of LiteLLM's own provider of the OpenAI API."""

import asyncio
import json
from typing import Any

import litellm
import pytest
from script import ANSWER, CALL, GUESSED, LATE, TWO, Script, served

from del_dialects.litellm import TextTools, register

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
QUESTION = [{"role": "user", "content": "What is the weather in Paris?"}]


def ask(script: Script, way: str, messages: list[Any] = QUESTION, model: str = "del/openai/model", **options: Any) -> Any:
    """A message, its chunks put together where they are streamed, and why it ended."""
    asked = {"model": model, "messages": messages, "tools": TOOLS, "api_base": script.url, "api_key": "none"} | options

    async def astreamed() -> list[Any]:
        return [chunk async for chunk in await litellm.acompletion(stream=True, **asked)]

    match way:
        case "at once":
            response = litellm.completion(**asked)
        case "async":
            response = asyncio.run(litellm.acompletion(**asked))
        case "streamed":
            response = litellm.stream_chunk_builder(list(litellm.completion(stream=True, **asked)))
        case _:
            response = litellm.stream_chunk_builder(asyncio.run(astreamed()))
    return response.choices[0].message, response.choices[0].finish_reason


def calls(message: Any) -> list[Any]:
    return [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()]


@pytest.fixture(autouse=True)
def registered() -> None:
    register()


@pytest.mark.parametrize("way", ["at once", "async", "streamed", "async streamed"])
def test_a_call_its_result_and_the_answer(way: str) -> None:
    with served(CALL, ANSWER) as script:
        message, reason = ask(script, way, temperature=0.5, tool_choice="auto")
        assert message.content.strip() == "Let me look."
        assert message.reasoning_content.strip() == "They ask for the weather."
        assert (calls(message), reason) == ([("get_weather", {"city": "Paris"})], "tool_calls")
        result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "sunny, 21 degrees"}
        last, reason = ask(script, way, [*QUESTION, message, result])
        assert (last.content, last.tool_calls, reason) == (ANSWER, None, "stop")
    assert "tools" not in script.requests[0] and script.requests[0]["temperature"] == 0.5
    assert '"name": "get_weather"' in script.requests[0]["messages"][0]["content"]
    roles = [said["role"] for said in script.requests[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"] and "sunny, 21" in script.messages(1)


@pytest.mark.parametrize("way", ["at once", "streamed"])
def test_two_calls_in_the_dialect_of_the_model(way: str) -> None:
    with served(TWO) as script:
        message, reason = ask(script, way, model="del/openai/Qwen/Qwen3-Coder-30B-A3B-Instruct")
    assert calls(message) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]
    assert len({call.id for call in message.tool_calls}) == 2
    assert "<function=" in script.messages(0)


@pytest.mark.parametrize("way", ["at once", "streamed"])
def test_a_server_that_leaves_calls_in_the_text(way: str) -> None:
    register("leaking", TextTools(tell=False))
    with served(CALL) as script:
        message, _ = ask(script, way, model="leaking/openai/model")
    assert calls(message) == [("get_weather", {"city": "Paris"})] and script.requests[0]["tools"] == TOOLS


@pytest.mark.parametrize(("guessed", "why"), [(GUESSED, "duplicate_key"), (LATE, "guessed_border")])
def test_uncertain_arguments_are_marked(guessed: str, why: str) -> None:
    with served(guessed, guessed) as script:
        message, _ = ask(script, "at once")
        assert message.provider_specific_fields["guesses"] == {message.tool_calls[0].id: [why]}
        asked = {"model": "del/openai/model", "messages": QUESTION, "tools": TOOLS, "api_base": script.url}
        chunks = list(litellm.completion(stream=True, api_key="none", **asked))
        marked = [chunk.choices[0].delta.provider_specific_fields for chunk in chunks if chunk.choices[0].delta.tool_calls]
        assert [list(fields["guesses"].values()) for fields in marked] == [[[why]]]


@pytest.mark.parametrize("way", ["at once", "streamed"])
def test_a_request_that_forbids_calls(way: str) -> None:
    with served(CALL) as script:
        message, reason = ask(script, way, tool_choice="none")
    assert message.content.endswith("</tool_call>") and (message.tool_calls, reason) == (None, "stop")
    assert "get_weather" not in script.messages(0)
