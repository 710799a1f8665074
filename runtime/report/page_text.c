/* page_text.c - texts and times of a report.
 * Tests      test/lit/host/report.test */
#include "page.h"
#include "json.h"

void ptoi_page_text(FILE *out, const char *s)
{
    for (const unsigned char *c = utf8_pass(out, s); *c; c = utf8_pass(out, (const char *)c + 1)) switch (*c) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*c < 0x20 && *c != '\n' ? '?' : *c, out); break;
        }
}

const char *ptoi_page_unit(const struct page *p) { return p->record->unit[0] == 'n' ? "us" : "cycles"; }
double ptoi_page_time(const struct page *p, int64_t ticks)
{
    return p->record->unit[0] == 'n' ? (double)ticks / 1000.0 : (double)ticks;
}
