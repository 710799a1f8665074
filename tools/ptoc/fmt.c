/* fmt.c - ptoc fmt: the usual layout for a file, in place.
 * Idea       what has a syntax error is not touched; what has the layout already is not written.
 * Owner      nothing.
 * Invariant  a file is replaced as a whole or stays as it was.
 * Blocks     in reading and writing files.
 * Tests      test/lit/fmt/
 */
#include "build.h"
#include "format/format.h"
#include "line_diff.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int cannot_write(const char *path)
{
    fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", path, strerror(errno));
    return EXIT_FILE;
}

static bool write_all(int fd, const struct strbuf *text)
{
    for (size_t done = 0; done < text->length;) {
        ssize_t n = write(fd, strbuf_text(text) + done, text->length - done);
        if (n < 0 && errno != EINTR) return false;
        if (n > 0) done += (size_t)n;
    }
    return true;
}

/* Beside the file, then renamed over it: a full disk leaves the old text.  A link stays a link. */
static int replace_file(const char *path, const struct strbuf *text)
{
    char *real = realpath(path, NULL), *beside = NULL;
    struct stat st;
    int result = EXIT_OK, fd = -1;
    if (real == NULL || stat(real, &st) != 0 || asprintf(&beside, "%s.XXXXXX", real) < 0) result = cannot_write(path);
    else if (access(real, W_OK) != 0 || (fd = mkstemp(beside)) < 0) result = cannot_write(path);
    if (fd >= 0) {
        bool ok = write_all(fd, text) && fchmod(fd, st.st_mode & 07777) == 0;
        ok = close(fd) == 0 && ok;
        if (!ok || rename(beside, real) != 0) {
            result = cannot_write(path);
            unlink(beside);
        }
    }
    free(beside);
    free(real);
    return result;
}

static int write_result(const struct options *o, const struct strbuf *before, const struct strbuf *after)
{
    bool is_same = before->length == after->length && memcmp(strbuf_text(before), strbuf_text(after), after->length) == 0;
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
    if (strcmp(o->input, "-") != 0) return is_same ? EXIT_OK : replace_file(o->input, after);
    return fwrite(strbuf_text(after), 1, after->length, stdout) == after->length ? EXIT_OK : cannot_write("standard output");
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
