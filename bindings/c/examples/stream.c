/* Reads an answer as it arrives. */
#include <stdio.h>
#include <string.h>

#include "del_dialects.h"

static void print(const del_event *event, void *data) {
    int *calls = data;
    int len = (int)event->text.len;
    switch (event->type) {
    case DEL_TEXT:
        printf("text: %.*s\n", len, event->text.data);
        break;
    case DEL_REASONING:
        printf("thinking: %.*s\n", len, event->text.data);
        break;
    case DEL_CALL_START:
        printf("call: %.*s (%.*s)\n", len, event->text.data, (int)event->dialect.len, event->dialect.data);
        break;
    case DEL_ARGUMENTS:
        printf("arguments: %.*s\n", len, event->text.data);
        break;
    case DEL_CALL_END:
        *calls += 1;
        break;
    case DEL_FAULT:
        printf("fault: %.*s\n", (int)event->message.len, event->message.data);
        break;
    }
}

int main(void) {
    const char *pieces[] = {"Let me look.\n<tool_", "call>{\"name\": \"get_weather\", \"argum",
                            "ents\": {\"city\": \"Par", "is\"}}</tool_call>"};
    int calls = 0;
    del_parser *parser = NULL;
    del_code code = del_parser_new(NULL, NULL, DEL_IN_TEXT, &parser);
    for (size_t at = 0; code == DEL_OK && at < sizeof pieces / sizeof *pieces; at++)
        code = del_parser_push(parser, pieces[at], strlen(pieces[at]), print, &calls);
    if (code == DEL_OK)
        code = del_parser_finish(parser, false, print, &calls);
    if (code != DEL_OK)
        fprintf(stderr, "%s\n", del_error());
    del_parser_free(parser);
    printf("%d call\n", calls);
    return code == DEL_OK && calls == 1 ? 0 : 1;
}
