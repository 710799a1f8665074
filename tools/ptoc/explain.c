/* explain.c - `ptoc explain`: the pages of docs/explain on a terminal.
 * Idea       a page is Markdown of headings, paragraphs and fenced programs; a heading ends in a colon here, a program
 *            is indented.
 * Owner      nothing.
 * Invariant  every id of diag.def has a page; scripts/check_docs.py looks.
 * Blocks     never.
 * Tests      test/lit/diag/explain.test, test/lit/docs/explain-programs.test
 */
#include "explain.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void print_page(const char *page)
{
    bool in_program = false;
    for (const char *line = page; *line != '\0';) {
        int length = (int)strcspn(line, "\n");
        if (strncmp(line, "```", 3) == 0)
            in_program = !in_program;
        else if (in_program)
            printf("%s%.*s\n", length > 0 ? "    " : "", length, line);
        else if (strncmp(line, "## ", 3) == 0)
            printf("%.*s:\n", length - 3, line + 3);
        else if (strncmp(line, "# ", 2) == 0)
            printf("%.*s\n", length - 2, line + 2);
        else
            printf("%.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

int explain_main(const struct options *o)
{
    if (o->topic == NULL) {
        for (int i = 0; i < DIAG_COUNT; i++)
            printf("%s  %s\n", diag_id_name((enum diag_id)i), diag_id_title((enum diag_id)i));
        return EXIT_OK;
    }
    for (int i = 0; i < DIAG_COUNT; i++) {
        const char *name = diag_id_name((enum diag_id)i);
        if (strlen(o->topic) != strlen(name) || toupper((unsigned char)o->topic[0]) != name[0] ||
            strcmp(o->topic + 1, name + 1) != 0)
            continue;
        if (explain_pages[i] == NULL)
            printf("%s: %s\n", name, diag_id_title((enum diag_id)i));
        else
            print_page(explain_pages[i]);
        return EXIT_OK;
    }
    fprintf(stderr, "ptoc: error: unknown id '%s'; 'ptoc explain' lists the ids\n", o->topic);
    return EXIT_USAGE;
}
