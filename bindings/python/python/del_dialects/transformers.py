"""Response templates for transformers: data in a checkpoint by which `tokenizer.parse_response` reads answers.

>>> from del_dialects.transformers import response_template
>>> template = response_template("hermes")
>>> sorted(template["fields"])
['content', 'reasoning_content', 'tool_calls']

`tokenizer.response_template = response_template("hermes")` is all; `save_pretrained` keeps it. No code of this package runs
when an answer is read then, so a template says less than a parser: it reads what a dialect writes, and mends nothing.
"""

import json
from typing import Any

from . import Dialect, TemplateError
from ._lib import response_template as _written

__all__ = ["TemplateError", "response_template"]


def response_template(dialect: str | Dialect, *, start_anchor: str | None = None) -> dict[str, Any]:
    """The response template of a dialect, or a `TemplateError` that says why it has none.

    Everything of the prompt up to `start_anchor`, a regular expression, is passed over. Left out, that is the whole prompt
    but for a mark of thinking that it ends with; a prompt that begins the answer itself wants what its template writes
    before the model's turn, such as `r"<\\|im_start\\|>assistant\\n"`.
    """
    template: dict[str, Any] = json.loads(_written(dialect, start_anchor=start_anchor))
    return template
