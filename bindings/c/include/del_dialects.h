/* Reads and writes the tool calls of language models, whichever dialect they are written in.
 *
 * Functions that can fail return a `del_code`; `del_error` says in words what the last failure of this thread was. Text
 * is UTF-8. What a function hands out through its last argument belongs to the caller, until it is freed by the
 * function of its type, once. A NULL where something is needed is DEL_NULL, and never more. Nothing here unwinds into C.
 *
 * An object is for one thread at a time; different ones may be used at once.
 *
 * Made by cbindgen: `UPDATE_HEADER=1 cargo test --test header` writes it anew. */

#ifndef DEL_DIALECTS_H
#define DEL_DIALECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 How a function ended. The values are part of the interface.
 */
typedef enum del_code {
  /*
   As it should.
   */
  DEL_OK = 0,
  /*
   NULL came where something is needed.
   */
  DEL_NULL = 1,
  /*
   Text is not UTF-8.
   */
  DEL_UTF8 = 2,
  /*
   There is no dialect of this name.
   */
  DEL_UNKNOWN_DIALECT = 3,
  /*
   A description of a dialect is none.
   */
  DEL_BAD_DESCRIPTION = 4,
  /*
   Tool definitions cannot be read.
   */
  DEL_BAD_TOOLS = 5,
  /*
   Another argument is not what it should be.
   */
  DEL_BAD_ARGUMENT = 6,
  /*
   The dialect cannot carry this.
   */
  DEL_CANNOT_RENDER = 7,
  /*
   There is no grammar of this kind.
   */
  DEL_NO_GRAMMAR = 8,
  /*
   The answer is over already.
   */
  DEL_FINISHED = 9,
  /*
   The object is in use: a callback has called a function on its own parser.
   */
  DEL_BUSY = 10,
  /*
   An error in Del itself. The object should not be used any more.
   */
  DEL_INTERNAL = 11,
} del_code;

/*
 What an event is.
 */
typedef enum del_event_type {
  /*
   `text` is for the user.
   */
  DEL_TEXT = 0,
  /*
   `text` is the model's thinking.
   */
  DEL_REASONING = 1,
  /*
   A call begins: `text` is the tool's name, `id` the model's own id, if there is one.
   */
  DEL_CALL_START = 2,
  /*
   `text` is a piece of the call's arguments, as JSON. All pieces together are one object.
   */
  DEL_ARGUMENTS = 3,
  /*
   The call is complete. A call without this event must not run.
   */
  DEL_CALL_END = 4,
  /*
   Something was wrong, or was mended: `text` is its kind, `message` one sentence.
   */
  DEL_FAULT = 5,
} del_event_type;

/*
 Where an answer starts.
 */
typedef enum del_start {
  /*
   As text.
   */
  DEL_IN_TEXT = 0,
  /*
   Inside thinking: the prompt ended with its opening mark.
   */
  DEL_IN_REASONING = 1,
  /*
   Nobody said: what stands before a mark that ends thinking, and that nothing opened, is thinking. For whole answers, as
   `del parse` reads them: in a stream, text may be held until the end.
   */
  DEL_IN_UNKNOWN = 2,
} del_start;

/*
 How much a model is told of its tools.
 */
typedef enum del_detail {
  /*
   The form that the dialect's family is shown.
   */
  DEL_FULL = 0,
  /*
   Types of TypeScript.
   */
  DEL_TYPES = 1,
  /*
   Names, required arguments and one sentence, for very small models.
   */
  DEL_COMPACT = 2,
} del_detail;

/*
 A notation of grammars.
 */
typedef enum del_notation {
  /*
   For llama.cpp.
   */
  DEL_GBNF = 0,
  /*
   For llguidance.
   */
  DEL_LARK = 1,
  /*
   For `XGrammar`, as JSON.
   */
  DEL_STRUCTURAL_TAG = 2,
  /*
   One regular expression.
   */
  DEL_REGEX = 3,
} del_notation;

/*
 How a family of models writes tool calls.
 */
typedef struct del_dialect del_dialect;

/*
 Reads one answer as it arrives.
 */
typedef struct del_parser del_parser;

/*
 The tools that a model was told of, read once.
 */
typedef struct del_tools del_tools;

/*
 Text that is there while the callback runs. It does not end with a NUL. `data` is NULL where there is none.
 */
typedef struct del_text {
  /*
   UTF-8.
   */
  const char *data;
  /*
   Bytes.
   */
  size_t len;
} del_text;

/*
 One step of an answer.
 */
typedef struct del_event {
  /*
   What it is.
   */
  enum del_event_type type;
  /*
   The number of the call that it belongs to, from 0 on; -1 where there is none.
   */
  int64_t call;
  /*
   See `del_event_type`.
   */
  struct del_text text;
  /*
   The id of a call, at its start or at its end.
   */
  struct del_text id;
  /*
   The dialect that a call is written in, at its start.
   */
  struct del_text dialect;
  /*
   A fault in one sentence.
   */
  struct del_text message;
  /*
   A fault after which a value may be another than the model meant: ask before the call acts.
   */
  bool changes_arguments;
  /*
   The first byte of the answer that it stands for.
   */
  uint64_t start;
  /*
   The byte behind the last.
   */
  uint64_t end;
} del_event;

/*
 Takes an event. It must return: no jump, no exception.
 */
typedef void (*del_callback)(const struct del_event *event, void *data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 In words, what the last failure of this thread was; there until the next one.
 */
const char *del_error(void);

/*
 The version of this library.
 */
const char *del_version(void);

/*
 A built-in dialect by its name, or by a name that another engine has for it.
 */
enum del_code del_dialect_get(const char *name, struct del_dialect **dialect);

/*
 A dialect of one's own, from its description in TOML.
 */
enum del_code del_dialect_from_toml(const char *toml, const char *name, struct del_dialect **dialect);

/*
 Frees a dialect. NULL is fine. Parsers made of it stay.
 */
void del_dialect_free(struct del_dialect *dialect);

/*
 Tools from JSON, as the OpenAI, Anthropic and MCP APIs have them.
 */
enum del_code del_tools_new(const char *json, struct del_tools **tools);

/*
 Frees tools. NULL is fine. Parsers made with them stay.
 */
void del_tools_free(struct del_tools *tools);

/*
 A parser of one answer. `dialect` is NULL for all dialects at once, `tools` NULL where there are none; `starts_in` is
 one of `del_start`.
 */
enum del_code del_parser_new(const struct del_dialect *dialect,
                             const struct del_tools *tools,
                             int32_t starts_in,
                             struct del_parser **parser);

/*
 The next piece of the answer; it may end anywhere, also inside a character. Everything that is settled by it goes to the
 callback, with `data`, before this returns. Bytes that are not UTF-8, half a character before this piece among them, are
 read as U+FFFD and all else as it is; then this returns `DEL_UTF8`, and the parser goes on.
 */
enum del_code del_parser_push(const struct del_parser *parser,
                              const char *piece,
                              size_t len,
                              del_callback callback,
                              void *data);

/*
 The answer is over: what was held goes to the callback. `cut` says that it was cut off, and did not end by itself: then
 half a character at its end is left out. Else that is read as U+FFFD, and this returns `DEL_UTF8` when all is done.
 */
enum del_code del_parser_finish(const struct del_parser *parser,
                                bool cut,
                                del_callback callback,
                                void *data);

/*
 How many bytes are held back, because they may be part of markup.
 */
size_t del_parser_held(const struct del_parser *parser);

/*
 Frees a parser. NULL is fine. From inside its own callback this does nothing: the parser is still in use there.
 */
void del_parser_free(struct del_parser *parser);

/*
 Reads a whole answer: the JSON that `del parse` prints.
 */
enum del_code del_parse(const char *answer,
                        size_t len,
                        const struct del_dialect *dialect,
                        const struct del_tools *tools,
                        int32_t starts_in,
                        bool cut,
                        char **json);

/*
 What a model is told in prompt mode: its tools, and how to call one. `detail` is one of `del_detail`.
 */
enum del_code del_render_prompt(const struct del_dialect *dialect,
                                const struct del_tools *tools,
                                int32_t detail,
                                char **prompt);

/*
 Calls as the model itself writes them, from a JSON list of objects with `name`, `arguments` (JSON text) and perhaps `id`.
 */
enum del_code del_render_calls(const struct del_dialect *dialect,
                               const char *calls,
                               const struct del_tools *tools,
                               char **written);

/*
 Results as the dialect hands them to the model, from a JSON list of objects with `name`, `text`, `ok` and perhaps `id`.
 */
enum del_code del_render_results(const struct del_dialect *dialect,
                                 const char *results,
                                 char **written);

/*
 A conversation of the OpenAI API (a JSON list of messages) with tools, calls and results as text. What users and tools
 say in it is neutralised: `del_restore_json` takes that out of the arguments of a call that repeats such text.
 */
enum del_code del_render_messages(const struct del_dialect *dialect,
                                  const char *messages,
                                  const struct del_tools *tools,
                                  char **written);

/*
 Breaks every mark in a text of others by an invisible character, so that it cannot pass for a call.
 */
enum del_code del_neutralise(const char *others, char **neutral);

/*
 What `del_neutralise` was given. Text that was never neutralised stays as it is.
 */
enum del_code del_restore(const char *neutral, char **restored);

/*
 The same of JSON, such as the whole arguments of a call that repeats what was neutralised: its texts are restored.
 */
enum del_code del_restore_json(const char *json, char **restored);

/*
 What a model may write, as a grammar. `choice` is `auto` (or NULL) for text or calls, `required`, or the name of the tool
 that has to be called; `parallel` allows several calls, `thinking` a thought before required ones; `notation` is one
 of `del_notation`.
 */
enum del_code del_grammar(const struct del_dialect *dialect,
                          const struct del_tools *tools,
                          const char *choice,
                          bool parallel,
                          bool thinking,
                          int32_t notation,
                          char **grammar);

/*
 Frees a text that was handed out. NULL is fine.
 */
void del_text_free(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* DEL_DIALECTS_H */
