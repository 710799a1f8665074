/* fmt.c - ptoc fmt: the usual layout for a file, in place.
 * Idea       a file with a syntax error is not changed; a file that has the layout already is not written.
 * Owner      nothing.
 * Invariant  a file is replaced as a whole or stays as it was.
 * Blocks     in reading and writing files.
 * Tests      test/lit/fmt/
 */
#include "build.h"
#include "syntax/format/format.h"
#include "line_diff.h"
#include "output.h"
#include <string.h>

static int write_result(const struct options *o, const struct strbuf *before, const struct strbuf *after)
{
    bool is_same =
        before->length == after->length && memcmp(strbuf_text(before), strbuf_text(after), after->length) == 0;
    const char *name = strcmp(o->input, "-") == 0 ? "<stdin>" : o->input;
    if (o->fmt_diff) {
        struct strbuf text = {0};
        line_diff(name, before, after, &text);
        fwrite(strbuf_text(&text), 1, text.length, stdout);
        strbuf_free(&text);
    } else if (o->fmt_check && !is_same) {
        printf("%s\n", name);
    }
    if (o->fmt_check) return is_same ? EXIT_OK : EXIT_ERRORS;
    if (o->fmt_diff) return EXIT_OK;
    return is_same && strcmp(o->input, "-") != 0 ? EXIT_OK : output_text(o->input, after);
}

int fmt_main(const struct options *o)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    parse_file(&s.front, 0);
    diag_flush(s.front.diag);
    if (diag_error_count(s.front.diag) == 0) {
        const struct source *source = source_get(s.front.sources, 0);
        struct strbuf before = {0}, after = {0};
        strbuf_add(&before, source->text, source->length);
        format_file(&s.front, 0, &after);
        result = write_result(o, &before, &after);
        strbuf_free(&before);
        strbuf_free(&after);
    }
    int closed = session_close(&s);
    return closed != EXIT_OK ? closed : result;
}
