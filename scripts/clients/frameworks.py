"""One question, the call that it takes, its result and the answer, with Python frameworks on the clients of each API, in
front of `scripted.py`: at once and streamed, for a model that calls by the API, one whose calls leak, and one that takes
no tools.
"""

import argparse
import asyncio
import functools
import operator
import os
import sys

# Prices would come from elsewhere, and what was asked would go there.
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_DISABLE_TELEMETRY": "1"}

import agents
import anthropic
import instructor
import litellm
import openai
import pydantic
import pydantic_ai
import smolagents
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

QUESTION = "What is the weather in Paris?"
RESULT = "sunny, 21 degrees"
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Get the weather of a city.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}


class Asked:
    """The tool, and whether it was called rightly since the last look."""

    cities = []

    @classmethod
    def weather(cls, city):
        cls.cities.append(city)
        return RESULT

    @classmethod
    def check(cls, answer):
        if cls.cities != ["Paris"] or "21" not in str(answer):
            sys.exit(f"expected one call for Paris and an answer with its result, got {cls.cities} and {answer!r}")
        cls.cities = []


def get_weather(city: str) -> str:
    """Get the weather of a city.

    Args:
        city: The city's name.
    """
    return Asked.weather(city)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base_url", help="the proxy's, ending in /v1")
    base = parser.parse_args().base_url
    root = base.removesuffix("/v1")
    agents.set_tracing_disabled(True)
    litellm.suppress_debug_info = True
    lines = 0
    for model in ("native", "leaked", "prompt"):
        for streamed in (False, True):
            for name, converse in conversations(base, root, model):
                print(f"{name} {model} {'streamed' if streamed else 'at once'}", flush=True)
                Asked.check(converse(streamed))
                lines += 1
        for name, extract in extractions(base, root, model):
            print(f"{name} {model}", flush=True)
            city = extract().city
            if city != "Paris":
                sys.exit(f"expected Paris, got {city!r}")
            lines += 1
    print(f"{lines} conversations")


def conversations(base, root, model):
    """All frameworks on all APIs, each as a function that asks and gives the answer."""
    many = openai.AsyncOpenAI(base_url=base, api_key="none", max_retries=0)
    chat = OpenAIProvider(base_url=base, api_key="none")
    claude = AnthropicProvider(anthropic_client=anthropic.AsyncAnthropic(base_url=root, api_key="none", max_retries=0))
    yield "openai-agents chat", functools.partial(run_agent, agents.OpenAIChatCompletionsModel(model, many))
    yield "openai-agents responses", functools.partial(run_agent, agents.OpenAIResponsesModel(model, many))
    yield "langchain-openai", functools.partial(chain, ChatOpenAI(model=model, base_url=base, api_key="none", max_retries=0))
    yield "langchain-openai responses", functools.partial(
        chain, ChatOpenAI(model=model, base_url=base, api_key="none", max_retries=0, use_responses_api=True))
    yield "langchain-anthropic", functools.partial(
        chain, ChatAnthropic(model=model, base_url=root, api_key="none", max_retries=0, max_tokens=1000))
    yield "pydantic-ai chat", functools.partial(pydantic_agent, OpenAIChatModel(model, provider=chat))
    yield "pydantic-ai responses", functools.partial(pydantic_agent, OpenAIResponsesModel(model, provider=chat))
    yield "pydantic-ai anthropic", functools.partial(pydantic_agent, AnthropicModel(model, provider=claude))
    yield "litellm openai", functools.partial(lite, model=f"openai/{model}", api_base=base, api_key="none")
    yield "litellm anthropic", functools.partial(lite, model=f"anthropic/{model}", api_base=root, api_key="none")
    yield "litellm ollama", functools.partial(lite, model=f"ollama_chat/{model}", api_base=root)
    yield "smolagents", functools.partial(
        small, smolagents.OpenAIServerModel(model, api_base=base, api_key="none"))


def extractions(base, root, model):
    """instructor, which makes objects of calls that it demands."""
    class get_weather(pydantic.BaseModel):
        """The weather of a city."""

        city: str

    request = {"model": model, "messages": [{"role": "user", "content": QUESTION}], "response_model": get_weather}
    chat = instructor.from_openai(openai.OpenAI(base_url=base, api_key="none", max_retries=0))
    yield "instructor openai", lambda: chat.chat.completions.create(max_retries=0, **request)
    yield "instructor openai streamed", lambda: [*chat.chat.completions.create_partial(max_retries=0, **request)][-1]
    claude = instructor.from_anthropic(anthropic.Anthropic(base_url=root, api_key="none", max_retries=0))
    yield "instructor anthropic", lambda: claude.messages.create(max_tokens=1000, max_retries=0, **request)
    yield "instructor anthropic streamed", lambda: [
        *claude.messages.create_partial(max_tokens=1000, max_retries=0, **request)][-1]


def run_agent(model, streamed):
    agent = agents.Agent(name="Weather", model=model, tools=[agents.function_tool(get_weather)])
    if not streamed:
        return agents.Runner.run_sync(agent, QUESTION).final_output

    async def stream():
        result = agents.Runner.run_streamed(agent, QUESTION)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return asyncio.run(stream())


def chain(model, streamed):
    model = model.bind_tools([get_weather])
    said = [HumanMessage(QUESTION)]

    def ask():
        return functools.reduce(operator.add, model.stream(said)) if streamed else model.invoke(said)

    message = ask()
    said.append(message)
    said += [ToolMessage(get_weather(**call["args"]), tool_call_id=call["id"]) for call in message.tool_calls]
    return ask().text


def pydantic_agent(model, streamed):
    agent = pydantic_ai.Agent(model, tools=[get_weather])

    async def follow(_, events):
        async for _ in events:
            pass

    # `run_stream` would take the text before a call for the answer.
    run = agent.run(QUESTION, event_stream_handler=follow if streamed else None)
    return asyncio.run(run).output


def lite(streamed, **request):
    said = [{"role": "user", "content": QUESTION}]

    def ask():
        answer = litellm.completion(messages=said, tools=[TOOL], stream=streamed, num_retries=0, **request)
        if streamed:
            answer = litellm.stream_chunk_builder(list(answer), messages=said)
        return answer.choices[0].message

    message = ask()
    said.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls:
        arguments = pydantic.TypeAdapter(dict).validate_json(call.function.arguments)
        said.append({"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": get_weather(**arguments)})
    return ask().content


def small(model, streamed):
    agent = smolagents.ToolCallingAgent(
        tools=[smolagents.tool(get_weather)], model=model, stream_outputs=streamed, max_steps=3, verbosity_level=0)
    return agent.run(QUESTION)


if __name__ == "__main__":
    main()
