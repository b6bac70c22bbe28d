#!/usr/bin/env python3
"""Follows a task of the assistant's: `follow.py DEL PROMPT [OPTION…]`, for example `follow.py del "What is here?" -m qwen3:8b`.

An example of a program on top of `del -p --output-format stream-json`. It knows what stands in docs/events.md, and nothing
more: lines that it does not know are passed over.
"""

import json
import subprocess
import sys

program, prompt, *options = sys.argv[1:]
command = [program, "-p", prompt, "--output-format", "stream-json", *options]
result = None
with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as task:
    for line in task.stdout:
        event = json.loads(line)
        match event["type"]:
            case "init":
                print("begins:", event["session_id"])
            case "message" if event["role"] == "assistant":
                print(event["content"], end="" if event["delta"] else "\n", flush=True)
            case "tool_use":
                print(f"\ncalls {event['name']} with {json.dumps(event['arguments'])} ({event['id']})")
            case "tool_result":
                print("done" if event["ok"] else "failed", f"({event['id']}):", event["text"])
            case "error":
                print("\nerror:", event["message"])
            case "result":
                result = event
usage = result["usage"]
print(f"\nends after {result['num_turns']} turns and {usage['input_tokens']} + {usage['output_tokens']} tokens")
sys.exit(result["is_error"])
