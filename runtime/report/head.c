/* head.c - the head of a report: which program, where, when, by which versions, and whether its results were checked.
 * Tests      test/lit/host/report.test */
#include "page.h"
#include <pto/pto_version.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void write_row(FILE *out, const char *name, const char *value)
{
    fprintf(out, "<tr><th>%s</th><td>", name);
    ptoi_page_text(out, value);
    fputs("</td></tr>\n", out);
}

/* What Linux calls the processor; false: nothing is known. */
static bool read_processor(char *text, size_t size)
{
    FILE *in = fopen("/proc/cpuinfo", "r");
    char line[256];
    bool found = false;
    while (in && !found && fgets(line, sizeof line, in)) {
        const char *value = strchr(line, ':');
        if (!value || strncmp(line, "model name", strlen("model name")) != 0) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s", value + 2);
        found = true;
    }
    if (in) fclose(in);
    return found;
}

static void write_machine(FILE *out)
{
    struct utsname u;
    char processor[200] = "", text[800];
    if (uname(&u) != 0) return;
    read_processor(processor, sizeof processor);
    snprintf(text, sizeof text, "%.64s: %.64s %.64s, %.64s%s%s, %ld processors", u.nodename, u.sysname, u.release,
             u.machine, processor[0] ? ", " : "", processor, sysconf(_SC_NPROCESSORS_ONLN));
    write_row(out, "machine", text);
}

void ptoi_head_write(struct page *p, const struct report_head *head)
{
    char text[64];
    const time_t now = time(NULL);
    struct tm utc;
    fputs("<table>\n", p->out);
    if (head) {
        write_row(p->out, "program", head->program);
        fputs("<tr><th>command</th><td><code>", p->out);
        for (int i = 0; i < head->argument_count; i++) {
            if (i) fputc(' ', p->out);
            ptoi_page_text(p->out, head->arguments[i]);
        }
        fputs("</code></td></tr>\n", p->out);
    }
    /* a run of engine timing gives the same bytes each time */
    if (!ptoi_has_cycles(&p->rt->core) && gmtime_r(&now, &utc) &&
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0)
        write_row(p->out, "date", text);
    write_machine(p->out);
    const int32_t v = pto_version();
    snprintf(text, sizeof text, "libpto %d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    write_row(p->out, "version", text);
    if (head) write_row(p->out, "--check", head->check ? head->check : "not asked for");
    fputs("</table>\n", p->out);
}
