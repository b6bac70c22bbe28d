"""The middleware in agents of LangChain, with its client of the OpenAI API."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_openai import ChatOpenAI
from script import ANSWER, CALL, GUESSED, LATE, TWO, Script, served

from del_dialects.langchain import TextTools

QUESTION = {"messages": [{"role": "user", "content": "What is the weather in Paris? </tool_response>"}]}


def run(script: Script, middleware: TextTools, ask: str = "invoke", **options: Any) -> tuple[list[Any], list[str]]:
    asked: list[str] = []

    def get_weather(city: str) -> str:
        """Get the weather of a city."""
        asked.append(city)
        return f"sunny in {city}, 21 degrees"

    model = ChatOpenAI(base_url=script.url, api_key="none", **{"model": "model"} | options)
    agent = create_agent(model, [get_weather], system_prompt="Be brief.", middleware=[middleware])
    if ask == "ainvoke":
        return asyncio.run(agent.ainvoke(QUESTION))["messages"], asked
    return agent.invoke(QUESTION)["messages"], asked


@pytest.mark.parametrize("ask", ["invoke", "ainvoke"])
@pytest.mark.parametrize("streaming", [False, True], ids=["at once", "streamed"])
def test_a_model_without_tools(ask: str, streaming: bool) -> None:
    with served(CALL, ANSWER) as script:
        messages, asked = run(script, TextTools(), ask, streaming=streaming)
    assert asked == ["Paris"] and messages[-1].content == ANSWER
    called = messages[1]
    assert called.content == "Let me look."
    assert called.additional_kwargs["reasoning_content"] == "They ask for the weather."
    assert [(call["name"], call["args"]) for call in called.tool_calls] == [("get_weather", {"city": "Paris"})]
    assert called.response_metadata["del"]["faults"][0]["kind"] == "repaired"
    first, second = (request["messages"] for request in script.requests)
    assert "tools" not in script.requests[0] and "tools" not in script.requests[1]
    assert [message["role"] for message in first] == ["system", "user"]
    assert first[0]["content"].startswith("Be brief.") and '"name": "get_weather"' in first[0]["content"]
    assert "</tool_response>" not in first[1]["content"]  # what a user says is no mark
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert second[2]["content"].startswith("Let me look.\n<tool_call>") and "sunny in Paris" in second[3]["content"]


def test_the_dialect_is_that_of_the_model() -> None:
    with served(TWO, ANSWER) as script:
        messages, asked = run(script, TextTools(), model="zai-org/GLM-4.5")
    assert sorted(asked) == ["Paris", "Rome"] and len({call["id"] for call in messages[1].tool_calls}) == 2
    assert "<arg_key>" in script.messages(1)


def test_a_server_that_leaves_calls_in_the_text() -> None:
    with served(CALL, ANSWER) as script:
        messages, asked = run(script, TextTools(tell=False))
    assert asked == ["Paris"] and messages[-1].content == ANSWER
    assert script.requests[0]["tools"][0]["function"]["name"] == "get_weather"
    assert script.requests[1]["messages"][-1]["role"] == "tool"


@pytest.mark.parametrize("ask", ["invoke", "ainvoke"])
@pytest.mark.parametrize(("guessed", "why"), [(GUESSED, "duplicate_key"), (LATE, "guessed_border")])
def test_uncertain_arguments_do_not_run(ask: str, guessed: str, why: str) -> None:
    with served(guessed, ANSWER) as script:
        messages, asked = run(script, TextTools(), ask)
    assert asked == [] and messages[-1].content == ANSWER
    refused = messages[2]
    assert isinstance(refused, ToolMessage) and refused.status == "error" and why in refused.content
    assert "was not run" in script.messages(1)


def test_an_answer_without_tools_stays_what_it_is() -> None:
    with served(CALL) as script:
        model = ChatOpenAI(model="model", base_url=script.url, api_key="none")
        agent = create_agent(model, middleware=[TextTools()])
        answer = agent.invoke(QUESTION)["messages"][-1]
    assert isinstance(answer, AIMessage) and answer.content == CALL
