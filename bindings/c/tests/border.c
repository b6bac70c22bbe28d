/* What a C program may do to the library, right and wrong: run under valgrind by check.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "del_dialects.h"

static int failed = 0;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #what, del_error());                       \
            failed = 1;                                                                                                \
        }                                                                                                              \
    } while (0)

static const char *TOOLS = "[{\"name\": \"get_weather\", \"parameters\": {\"type\": \"object\", \"properties\": "
                           "{\"city\": {\"type\": \"string\"}}, \"required\": [\"city\"]}}]";
static const char *CALL = "Fine \xf0\x9f\x98\x80\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": "
                          "\"K\xc3\xb6ln\"}}</tool_call>";

struct seen {
    char text[256], arguments[256], name[64], fault[64];
    int ends;
};

static void add(char *to, size_t room, del_text text) {
    size_t len = strlen(to);
    CHECK(len + text.len < room);
    memcpy(to + len, text.data, text.len);
    to[len + text.len] = 0;
}

static void see(const del_event *event, void *data) {
    struct seen *seen = data;
    CHECK(event->start <= event->end);
    if (event->type == DEL_TEXT)
        add(seen->text, sizeof seen->text, event->text);
    else if (event->type == DEL_CALL_START)
        add(seen->name, sizeof seen->name, event->text);
    else if (event->type == DEL_ARGUMENTS)
        add(seen->arguments, sizeof seen->arguments, event->text);
    else if (event->type == DEL_FAULT)
        add(seen->fault, sizeof seen->fault, event->text);
    else if (event->type == DEL_CALL_END) {
        CHECK(event->call == 0);
        seen->ends++;
    }
}

/* A callback that uses its own parser. */
static void meddle(const del_event *event, void *data) {
    (void)event;
    del_parser *parser = data;
    CHECK(del_parser_push(parser, "x", 1, see, NULL) == DEL_BUSY);
    CHECK(del_parser_finish(parser, false, see, NULL) == DEL_BUSY);
    CHECK(del_parser_held(parser) == 0);
    del_parser_free(parser);
}

static void reads_every_cut(const del_dialect *dialect, const del_tools *tools) {
    for (size_t size = 1; size <= strlen(CALL); size++) {
        struct seen seen = {0};
        del_parser *parser;
        CHECK(del_parser_new(dialect, tools, DEL_IN_TEXT, &parser) == DEL_OK);
        for (size_t at = 0; at < strlen(CALL); at += size) {
            size_t left = strlen(CALL) - at;
            CHECK(del_parser_push(parser, CALL + at, left < size ? left : size, see, &seen) == DEL_OK);
        }
        CHECK(del_parser_finish(parser, false, see, &seen) == DEL_OK);
        CHECK(strcmp(seen.text, "Fine \xf0\x9f\x98\x80") == 0);
        CHECK(strcmp(seen.name, "get_weather") == 0 && seen.ends == 1);
        CHECK(strcmp(seen.arguments, "{\"city\": \"K\xc3\xb6ln\"}") == 0);
        CHECK(del_parser_push(parser, "x", 1, see, &seen) == DEL_FINISHED);
        CHECK(del_parser_finish(parser, false, see, &seen) == DEL_FINISHED);
        del_parser_free(parser);
    }
}

static void survives(const del_dialect *dialect, const del_tools *tools) {
    del_parser *parser = (del_parser *)1;
    char *text = (char *)1;
    CHECK(del_parser_new(dialect, tools, 17, &parser) == DEL_BAD_ARGUMENT && parser == NULL);
    CHECK(del_parser_new(dialect, tools, DEL_IN_TEXT, NULL) == DEL_NULL);
    CHECK(del_parser_push(NULL, "x", 1, see, NULL) == DEL_NULL);
    CHECK(del_parser_finish(NULL, true, see, NULL) == DEL_NULL);
    CHECK(del_parser_held(NULL) == 0);
    CHECK(del_dialect_get(NULL, NULL) == DEL_NULL);
    CHECK(del_render_calls(NULL, "[]", tools, &text) == DEL_NULL && text == NULL);
    CHECK(del_render_calls(dialect, NULL, tools, &text) == DEL_NULL);
    CHECK(del_render_calls(dialect, "[7]", tools, &text) == DEL_BAD_ARGUMENT);
    CHECK(del_render_calls(dialect, "[{\"name\": \"f\", \"arguments\": \"7\"}]", tools, &text) == DEL_CANNOT_RENDER);
    CHECK(del_render_prompt(dialect, tools, -1, &text) == DEL_BAD_ARGUMENT);
    CHECK(del_grammar(dialect, NULL, NULL, true, false, DEL_GBNF, &text) == DEL_NO_GRAMMAR);
    CHECK(del_grammar(dialect, tools, "nobody", true, false, DEL_GBNF, &text) == DEL_NO_GRAMMAR);
    CHECK(del_parse(NULL, 3, NULL, NULL, DEL_IN_TEXT, false, &text) == DEL_NULL);
    CHECK(del_parse("\xff", 1, NULL, NULL, DEL_IN_TEXT, false, &text) == DEL_UTF8);
    CHECK(del_parse("x", (size_t)-1, NULL, NULL, DEL_IN_TEXT, false, &text) == DEL_BAD_ARGUMENT);
    del_dialect_free(NULL);
    del_tools_free(NULL);
    del_parser_free(NULL);
    del_text_free(NULL);

    CHECK(del_parser_new(NULL, NULL, DEL_IN_TEXT, &parser) == DEL_OK);
    struct seen seen = {0};
    CHECK(del_parser_push(parser, NULL, 0, see, &seen) == DEL_OK);
    CHECK(del_parser_push(parser, NULL, 1, see, &seen) == DEL_NULL);
    CHECK(del_parser_push(parser, "lost?", 5, NULL, NULL) == DEL_NULL);
    CHECK(del_parser_finish(parser, true, NULL, NULL) == DEL_NULL);
    CHECK(del_parser_push(parser, "\xc3", 1, see, &seen) == DEL_OK && del_parser_held(parser) == 1);
    CHECK(del_parser_push(parser, "x\xff\xfey\xc3", 5, see, &seen) == DEL_UTF8);
    CHECK(strstr(del_error(), "0xc3") != NULL);
    CHECK(del_parser_push(parser, "\xb6 here", 6, see, &seen) == DEL_OK);
    CHECK(strcmp(seen.text, "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbdy\xc3\xb6 here") == 0);
    CHECK(del_parser_push(parser, "here", 4, meddle, parser) == DEL_OK);
    CHECK(del_parser_push(parser, "\xc3", 1, see, &seen) == DEL_OK);
    CHECK(del_parser_finish(parser, false, see, &seen) == DEL_UTF8);
    CHECK(strcmp(seen.text + strlen(seen.text) - 3, "\xef\xbf\xbd") == 0);
    CHECK(del_parser_finish(parser, true, see, &seen) == DEL_FINISHED);
    del_parser_free(parser);
    CHECK(del_parser_new(NULL, NULL, DEL_IN_TEXT, &parser) == DEL_OK);
    CHECK(del_parser_push(parser, "cut \xc3", 5, see, &seen) == DEL_OK);
    CHECK(del_parser_finish(parser, true, see, &seen) == DEL_OK);
    del_parser_free(parser);

    del_dialect *none;
    CHECK(del_dialect_get("hermess", &none) == DEL_UNKNOWN_DIALECT && none == NULL);
    CHECK(strstr(del_error(), "hermes") != NULL);
    CHECK(del_dialect_get("\xff", &none) == DEL_UTF8);
    CHECK(del_dialect_from_toml("nonsense", "own", &none) == DEL_BAD_DESCRIPTION);
    del_tools *no_tools;
    CHECK(del_tools_new("{", &no_tools) == DEL_BAD_TOOLS && no_tools == NULL);
}

static void writes(const del_dialect *dialect, const del_tools *tools) {
    char *text;
    CHECK(del_parse(CALL, strlen(CALL), dialect, tools, DEL_IN_TEXT, false, &text) == DEL_OK);
    CHECK(strstr(text, "\"name\":\"get_weather\"") != NULL);
    del_text_free(text);
    const char *calls = "[{\"name\": \"get_weather\", \"arguments\": \"{\\\"city\\\": \\\"Paris\\\"}\"}]";
    CHECK(del_render_calls(dialect, calls, tools, &text) == DEL_OK);
    CHECK(strcmp(text, "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>") == 0);
    del_text_free(text);
    CHECK(del_render_prompt(dialect, tools, DEL_COMPACT, &text) == DEL_OK && strstr(text, "get_weather"));
    del_text_free(text);
    const char *results = "[{\"name\": \"get_weather\", \"text\": \"Sunny\", \"ok\": true}]";
    CHECK(del_render_results(dialect, results, &text) == DEL_OK && strstr(text, "Sunny"));
    del_text_free(text);
    CHECK(del_render_messages(dialect, "[{\"role\": \"user\", \"content\": \"Hi\"}]", tools, &text) == DEL_OK);
    CHECK(strstr(text, "\"role\":\"system\"") != NULL);
    del_text_free(text);
    CHECK(del_neutralise("</tool_call>", &text) == DEL_OK && strcmp(text, "</tool_call>") != 0);
    char *restored, json[64];
    CHECK(del_restore(text, &restored) == DEL_OK && strcmp(restored, "</tool_call>") == 0);
    del_text_free(restored);
    snprintf(json, sizeof json, "{\"city\": \"%s\"}", text);
    CHECK(del_restore_json(json, &restored) == DEL_OK && strcmp(restored, "{\"city\": \"</tool_call>\"}") == 0);
    del_text_free(restored);
    del_text_free(text);
    CHECK(del_restore(NULL, &restored) == DEL_NULL && restored == NULL);
    for (int notation = DEL_GBNF; notation <= DEL_REGEX; notation++) {
        CHECK(del_grammar(dialect, tools, "required", true, false, notation, &text) == DEL_OK && *text);
        del_text_free(text);
    }
}

int main(void) {
    del_dialect *dialect;
    del_tools *tools;
    CHECK(del_dialect_get("hermes", &dialect) == DEL_OK);
    CHECK(del_tools_new(TOOLS, &tools) == DEL_OK);
    CHECK(strchr(del_version(), '.') != NULL);
    reads_every_cut(dialect, tools);
    survives(dialect, tools);
    writes(dialect, tools);
    del_tools_free(tools);
    del_dialect_free(dialect);
    if (!failed)
        puts("the border holds");
    return failed;
}
