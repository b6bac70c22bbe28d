"""A question about a file to a real model behind `del serve --execute`, from clients that have no tools: OpenAI's and
Anthropic's, at once and streamed. The model calls a tool of the proxy, which runs there, and answers with its result.
"""

import argparse
import sys

import anthropic
import openai

QUESTION = "Read the file notes.txt and tell me what it says."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base_url", help="the proxy's, ending in /v1")
    parser.add_argument("model")
    options = parser.parse_args()
    chat = openai.OpenAI(base_url=options.base_url, api_key="none", max_retries=0, timeout=300)
    root = options.base_url.removesuffix("/v1")
    messages = anthropic.Anthropic(base_url=root, api_key="none", max_retries=0, timeout=300)
    said = [{"role": "user", "content": QUESTION}]

    raw = chat.chat.completions.with_raw_response.create(model=options.model, messages=said)
    message = raw.parse().choices[0].message
    check("read_file" in raw.headers.get("x-del-executed", ""), f"a call of read_file, got {message}")
    told("at once", message.reasoning_content, message.content)

    thought, answer = "", ""
    with messages.messages.stream(model=options.model, max_tokens=1000, messages=said) as stream:
        for event in stream:
            thought += event.thinking if event.type == "thinking" else ""
            answer += event.text if event.type == "text" else ""
    told("streamed, as messages", thought, answer)


def told(how, thought, answer):
    print(f"--- {how}\n{thought.strip()}\nanswer: {answer}")
    check("read_file" in thought, f"a line about the call, got {thought!r}")
    check("flour" in answer.lower(), f"an answer from the file, got {answer!r}")


def check(holds, expected):
    if not holds:
        sys.exit(f"expected {expected}")


if __name__ == "__main__":
    main()
