"""The parser of steps in LlamaIndex's ReAct agent, with its client of the OpenAI API."""

import asyncio
from typing import Any

import pytest
from llama_index.core.agent.react.types import ActionReasoningStep, ResponseReasoningStep
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from script import ANSWER, BROKEN, CALL, GUESSED, LATE, TWO, Script, served

from del_dialects.llama_index import DelOutputParser

ASKED: list[str] = []


def get_weather(city: str) -> str:
    """Get the weather of a city."""
    ASKED.append(city)
    return f"sunny in {city}, 21 degrees"


TOOLS = [FunctionTool.from_defaults(get_weather)]
REACT = 'Thought: I need the weather.\nAction: get_weather\nAction Input: {"city": "Paris"}\nObservation: rain'
FINAL = f"Thought: I can answer.\nAnswer: {ANSWER}"


def run(script: Script, streaming: bool = True) -> tuple[str, list[str]]:
    async def ask() -> Any:
        llm = OpenAILike(model="model", api_base=script.url, api_key="none", is_chat_model=True)
        agent = ReActAgent(tools=TOOLS, llm=llm, output_parser=DelOutputParser(TOOLS), streaming=streaming)
        return await agent.run("What is the weather in Paris?")

    ASKED.clear()
    return str(asyncio.run(ask())), list(ASKED)


@pytest.mark.parametrize("streaming", [False, True], ids=["at once", "streamed"])
@pytest.mark.parametrize("call", [CALL, REACT, TWO], ids=["own dialect", "ReAct", "two calls"])
def test_a_call_its_result_and_the_answer(call: str, streaming: bool) -> None:
    with served(call, FINAL) as script:
        answer, asked = run(script, streaming)
    assert (answer, asked) == (ANSWER, ["Paris"])
    assert "Observation: sunny in Paris" in script.messages(1) and "Observation: rain" not in script.messages(1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [(GUESSED, "duplicate_key"), (LATE, "guessed_border"), (BROKEN, "the answer ended inside a call")],
)
def test_what_is_not_certain_is_told_to_the_model(wrong: str, why: str) -> None:
    with served(wrong, REACT, FINAL) as script:
        answer, asked = run(script)
    assert (answer, asked) == (ANSWER, ["Paris"])
    assert why in script.messages(1)


def test_steps() -> None:
    parser = DelOutputParser(TOOLS)
    step = parser.parse(CALL)
    assert isinstance(step, ActionReasoningStep)
    assert (step.thought, step.action, step.action_input) == ("Let me look.", "get_weather", {"city": "Paris"})
    last = parser.parse(FINAL)
    assert isinstance(last, ResponseReasoningStep) and (last.thought, last.response) == ("I can answer.", ANSWER)
    plain = parser.parse("<think>\nEasy.\n</think>\n\nHello: I can help.")
    assert isinstance(plain, ResponseReasoningStep)
    assert (plain.thought, plain.response) == ("Easy.", "Hello: I can help.")
