/* transport.c - messages of the protocol on two file descriptors.
 * Idea       the input is read before work goes on, so that what is stale is seen; a message is a header with its
 *            length, and that many bytes of JSON.
 * Owner      the messages that wait are the transport's until transport_next() gives them away.
 * Invariant  bytes that make no message are skipped, and an answer says so: reading goes on at the next header.
 * Blocks     in transport_read() with `waits`, and while the client takes no output.
 * Tests      test/lsp/fuzz.py
 */
#include "transport.h"
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 64 * 1024, MAX_BODY_BYTES = 1 << 28, MAX_HEADER_BYTES = 1 << 16, LOGGED_BYTES = 2000 };

static const char length_word[] = "content-length:";

void transport_free(struct transport *t)
{
    for (size_t i = t->first; i < t->waiting.count; i++) json_decref(t->waiting.data[i]);
    vec_free(&t->waiting);
    strbuf_free(&t->input);
}

/* ---- the log ----------------------------------------------------------------------------------------------------- */

static void log_time(struct transport *t)
{
    struct timespec now;
    struct tm parts;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof text, "%H:%M:%S", &parts);
    fprintf(t->log, "%s.%03ld ", text, now.tv_nsec / 1000000);
}

void transport_log(struct transport *t, const char *what, const char *text, size_t length)
{
    if (!t->log) return;
    log_time(t);
    fprintf(t->log, "%s %.*s%s\n", what, (int)(length < LOGGED_BYTES ? length : LOGGED_BYTES), text,
            length > LOGGED_BYTES ? " ..." : "");
    fflush(t->log);
}

void transport_note(struct transport *t, const char *format, ...)
{
    if (!t->log) return;
    va_list args;
    log_time(t);
    va_start(args, format);
    vfprintf(t->log, format, args);
    va_end(args);
    fputc('\n', t->log);
    fflush(t->log);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static void write_all(struct transport *t, const char *data, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(t->out, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) { /* the client is gone */
            t->is_at_end = true;
            return;
        }
        data += n;
        length -= (size_t)n;
    }
}

void transport_send(struct transport *t, const struct strbuf *body)
{
    char header[64];
    const int n = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", body->length);
    write_all(t, header, (size_t)n);
    write_all(t, body->data, body->length);
    transport_log(t, "<-", body->data, body->length);
}

/* ---- input ------------------------------------------------------------------------------------------------------- */

/* The length that a line of a header gives; -1: it gives none. */
static int64_t length_of_line(const char *line, size_t length)
{
    const size_t word = sizeof length_word - 1;
    if (length <= word || strncasecmp(line, length_word, word) != 0) return -1;
    int64_t value = -1;
    for (size_t i = word; i < length; i++) {
        if (isdigit((unsigned char)line[i]))
            value = (value < 0 ? 0 : value) * 10 + (line[i] - '0');
        else if (line[i] != ' ' && line[i] != '\r')
            return -1;
        if (value > MAX_BODY_BYTES) return -1;
    }
    return value;
}

/* The header at the begin of the input: its bytes, and the length that it gives, -1 for none.  0: it is not all
 * there. */
static size_t read_header(const char *data, size_t length, int64_t *body)
{
    size_t at = 0;
    *body = -1;
    for (;;) {
        const char *end = memchr(data + at, '\n', length - at);
        if (!end) return length - at > MAX_HEADER_BYTES ? length : 0; /* no header has such a line */
        const size_t line = (size_t)(end - data) - at;
        const int64_t value = length_of_line(data + at, line);
        const bool is_empty = line == 0 || (line == 1 && data[at] == '\r');
        if (value >= 0) *body = value;
        at += line + 1;
        if (is_empty) return at;
    }
}

static void refuse(struct transport *t, const char *why)
{
    STRBUF(body);
    strbuf_puts(&body, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":");
    strbuf_json(&body, why, strlen(why));
    strbuf_puts(&body, "}}");
    transport_send(t, &body);
}

/* A body that is no JSON may have had a wrong length: the next header may be inside of it. */
static size_t find_header(const char *data, size_t length)
{
    for (size_t i = 0; i + sizeof length_word <= length; i++)
        if (strncasecmp(data + i, length_word, sizeof length_word - 1) == 0) return i;
    return length;
}

/* Takes one message, or what is none, from the input; false: more has to be read. */
static bool take(struct transport *t)
{
    const char *data = t->input.data + t->done;
    const size_t length = t->input.length - t->done;
    int64_t body;
    const size_t header = length > 0 ? read_header(data, length, &body) : 0;
    if (header == 0) return false;
    if (body >= 0 && length - header < (size_t)body) return false;
    t->done += header;
    if (body < 0) {
        transport_log(t, "no message:", data, header);
        return true;
    }
    json_error_t error;
    transport_log(t, "->", data + header, (size_t)body);
    json_t *message = json_loadb(data + header, (size_t)body, JSON_ALLOW_NUL, &error);
    if (message) {
        t->done += (size_t)body;
        vec_push(&t->waiting, message);
    } else {
        t->done += find_header(data + header, (size_t)body);
        refuse(t, error.text);
    }
    return true;
}

static void take_all(struct transport *t)
{
    while (take(t)) continue;
    if (t->done == 0) return;
    memmove(t->input.data, t->input.data + t->done, t->input.length - t->done);
    t->input.length -= t->done;
    t->input.data[t->input.length] = '\0';
    t->done = 0;
}

static bool is_ready(const struct transport *t, bool waits)
{
    struct pollfd p = {.fd = t->in, .events = POLLIN};
    int n;
    do n = poll(&p, 1, waits ? -1 : 0);
    while (n < 0 && errno == EINTR);
    return n > 0;
}

void transport_read(struct transport *t, bool waits)
{
    while (!t->is_at_end) {
        const bool is_idle = t->first == t->waiting.count;
        if (!is_ready(t, waits && is_idle)) return;
        char data[READ_BYTES];
        const ssize_t n = read(t->in, data, sizeof data);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            t->is_at_end = true;
        } else {
            strbuf_add(&t->input, data, (size_t)n);
            take_all(t);
        }
    }
}

json_t *transport_next(struct transport *t)
{
    if (t->first == t->waiting.count) {
        t->first = t->waiting.count = 0;
        return NULL;
    }
    return t->waiting.data[t->first++];
}
