"""Models of smolagents whose calls are read by Del, in the agents of smolagents."""

from typing import Any

import pytest
from script import ANSWER, BROKEN, CALL, GUESSED, LATE, TWO, Script, served
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool
from smolagents.models import REMOVE_PARAMETER

from del_dialects.smolagents import TextCalls

FINAL = f'<tool_call>\n{{"name": "final_answer", "arguments": {{"answer": "{ANSWER}"}}}}\n</tool_call>'


class Model(TextCalls, OpenAIModel):
    pass


def run(script: Script, stream: bool, **options: Any) -> tuple[Any, list[str], ToolCallingAgent]:
    asked: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Get the weather of a city.

        Args:
            city: The city's name.
        """
        asked.append(city)
        return f"sunny in {city}, 21 degrees"

    model = Model("model", api_base=script.url, api_key="none", **options)
    agent = ToolCallingAgent([get_weather], model, stream_outputs=stream, max_steps=4, verbosity_level=LogLevel.OFF)
    return agent.run("What is the weather in Paris?"), asked, agent


@pytest.mark.parametrize("stream", [False, True], ids=["at once", "streamed"])
class TestBoth:
    def test_a_call_its_result_and_the_answer(self, stream: bool) -> None:
        with served(CALL, FINAL) as script:
            answer, asked, agent = run(script, stream)
        assert (answer, asked) == (ANSWER, ["Paris"])
        assert "tools" in script.requests[0] and "sunny in Paris" in script.messages(1)
        step = agent.memory.steps[1]
        assert step.model_output.strip() == "Let me look."
        assert [(call.name, call.arguments) for call in step.tool_calls] == [("get_weather", {"city": "Paris"})]

    def test_two_calls_in_another_dialect(self, stream: bool) -> None:
        with served(TWO, FINAL) as script:
            answer, asked, _ = run(script, stream)
        assert (answer, sorted(asked)) == (ANSWER, ["Paris", "Rome"])

    @pytest.mark.parametrize(("guessed", "why"), [(GUESSED, "duplicate_key"), (LATE, "guessed_border")])
    def test_uncertain_arguments_do_not_run(self, stream: bool, guessed: str, why: str) -> None:
        with served(guessed, CALL, FINAL) as script:
            answer, asked, _ = run(script, stream)
        assert (answer, asked) == (ANSWER, ["Paris"])
        assert f"get_weather was not run: its arguments are not certain ({why})" in script.messages(1)

    def test_an_answer_without_a_call_is_told_to_the_model(self, stream: bool) -> None:
        with served(BROKEN, "Sunny.", FINAL) as script:
            assert run(script, stream)[0] == ANSWER
        assert "expected a call of a tool, got 'Let me look. \\\\nthe answer ended inside a call" in script.messages(1)
        assert "expected a call of a tool, got 'Sunny.'" in script.messages(2)

    def test_a_server_that_takes_no_tools(self, stream: bool) -> None:
        with served(CALL, FINAL) as script:
            answer, _, _ = run(script, stream, tools=REMOVE_PARAMETER, tool_choice=REMOVE_PARAMETER)
        assert answer == ANSWER and "tools" not in script.requests[0]
