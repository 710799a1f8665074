/* paths.c - files as a client names them.
 * Tests      test/lsp/test_positions.c
 */
#include "paths.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

char *path_of_uri(const char *uri)
{
    STRBUF(path);
    const char *p = uri;
    if (strncmp(uri, "file://", 7) == 0) {
        p = uri + 7;
        p += strcspn(p, "/"); /* the host */
    }
    for (; *p; p++) {
        const int high = *p == '%' ? hex_digit(p[1]) : -1, low = high >= 0 ? hex_digit(p[2]) : -1;
        if (low < 0 || high + low == 0) {
            strbuf_putc(&path, *p);
            continue;
        }
        strbuf_putc(&path, (char)(high << 4 | low));
        p += 2;
    }
    return strdup(strbuf_text(&path));
}

void uri_of_path(struct strbuf *out, const char *path)
{
    if (path[0] != '/') { /* of another kind */
        strbuf_puts(out, path);
        return;
    }
    strbuf_puts(out, "file://");
    for (const char *p = path; *p; p++)
        if (isalnum((unsigned char)*p) || strchr("/-._~", *p))
            strbuf_putc(out, *p);
        else
            strbuf_printf(out, "%%%02X", (unsigned char)*p);
}

char *path_real(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}
