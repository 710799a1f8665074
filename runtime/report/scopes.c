/* scopes.c - the scopes of a run and its graph, folded: a tree of scopes, in each the lines that submitted tasks there,
 * and for each line the lines whose tasks it waited for.  A click unfolds.
 * Idea       tasks of one scope (record/scope_tree.h) that one line submitted are a row; edges between tasks are
 *            counted between their rows.  So the page is as small for a million tasks as for ten.
 * Tests      test/lit/host/report.test */
#include "page.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, LINKS = 4 * ROWS, SHOWN = 8, OPEN_DEPTH = 2 };
#define NONE UINT32_MAX

struct row {
    uint32_t scope;
    const PTOSite *site;
    const PTOKernel *kernel;
    uint64_t tasks;
    int64_t time;
};

struct link { /* tasks of `to` wait for tasks of `from` */
    uint32_t to, from;
    uint64_t edges;
};

struct folded {
    const struct recorder *record;
    uint32_t *row_of; /* task */
    struct row row[ROWS];
    uint32_t rows, slot[2 * ROWS]; /* by hash: number + 1 */
    struct link link[LINKS];
    uint32_t links, link_slot[2 * LINKS];
    uint64_t tasks[PTOI_SCOPE_NODES]; /* of a scope and of those inside */
    int64_t time[PTOI_SCOPE_NODES];
};

static uint64_t hash(uint64_t a, uint64_t b) { return ((a * 0x9e3779b97f4a7c15u) ^ b) * 0x9e3779b97f4a7c15u >> 20; }

/* NONE: there is no room. */
static uint32_t find_row(struct folded *f, const struct recorded_task *t)
{
    for (uint64_t h = hash((uint64_t)(uintptr_t)t->site, (uint64_t)(uintptr_t)t->kernel ^ t->scope);; h++) {
        uint32_t *slot = &f->slot[h % (2 * ROWS)];
        if (*slot == 0 && f->rows == ROWS) return NONE;
        if (*slot == 0) {
            f->row[f->rows] = (struct row){.scope = t->scope, .site = t->site, .kernel = t->kernel};
            *slot = ++f->rows;
        }
        const struct row *g = &f->row[*slot - 1];
        if (g->scope == t->scope && g->site == t->site && g->kernel == t->kernel) return *slot - 1;
    }
}

static void count_edge(struct folded *f, uint32_t to, uint32_t from)
{
    if (to == NONE || from == NONE) return;
    for (uint64_t h = hash(to, from);; h++) {
        uint32_t *slot = &f->link_slot[h % (2 * LINKS)];
        if (*slot == 0 && f->links == LINKS) return;
        if (*slot == 0) {
            f->link[f->links] = (struct link){to, from, 0};
            *slot = ++f->links;
        }
        struct link *l = &f->link[*slot - 1];
        if (l->to != to || l->from != from) continue;
        l->edges++;
        return;
    }
}

static void fold(struct folded *f)
{
    const struct recorder *r = f->record;
    for (uint64_t n = 0; n < r->tasks; n++) {
        const struct recorded_task *t = &r->task[n];
        const int64_t time = ptoi_page_has_run(t) ? t->end - t->begin : 0;
        const uint32_t g = f->row_of[n] = find_row(f, t);
        f->tasks[t->scope]++;
        f->time[t->scope] += time;
        if (g != NONE) f->row[g].tasks++, f->row[g].time += time;
        for (uint32_t k = 0; k < t->edge_count; k++) {
            const uint64_t from = r->edge[t->first_edge + k].from;
            if (from < n) count_edge(f, g, f->row_of[from]);
        }
    }
    for (uint32_t n = r->scopes.count; n-- > 1;) { /* a parent stands before what is in it */
        f->tasks[r->scopes.node[n].parent] += f->tasks[n];
        f->time[r->scopes.node[n].parent] += f->time[n];
    }
}

static void write_place(struct page *p, const PTOSite *site)
{
    if (!site) return;
    const char *slash = strrchr(site->file, '/');
    ptoi_page_text(p->out, slash ? slash + 1 : site->file);
    fprintf(p->out, ":%d", site->line);
}

/* "in the loops b, i" */
static void write_loops(struct page *p, const PTOSite *site)
{
    if (!site || !(site->column & PTO_SITE_HAS_LINE) || !*((const PTOSiteLine *)site)->indices) return;
    const char *indices = ((const PTOSiteLine *)site)->indices;
    fputs(strchr(indices, ',') ? " in the loops " : " in the loop ", p->out);
    ptoi_page_text(p->out, indices);
}

static void write_links(struct page *p, const struct folded *f, uint32_t g)
{
    int shown = 0;
    for (uint32_t i = 0; i < f->links; i++) {
        const struct link *l = &f->link[i];
        if (l->to != g || shown++ >= SHOWN) continue;
        fputs(shown == 1 ? "; waits for " : ", ", p->out);
        ptoi_page_text(p->out, f->row[l->from].kernel->name);
        fputs(" of ", p->out);
        write_place(p, f->row[l->from].site);
        fprintf(p->out, " (%llu)", (unsigned long long)l->edges);
    }
    if (shown > SHOWN) fprintf(p->out, " and %d more", shown - SHOWN);
}

static void write_rows(struct page *p, const struct folded *f, uint32_t scope)
{
    fputs("<ul>\n", p->out);
    for (uint32_t g = 0; g < f->rows; g++) {
        if (f->row[g].scope != scope) continue;
        fputs("<li>", p->out);
        write_place(p, f->row[g].site);
        fputs(" <b>", p->out);
        ptoi_page_text(p->out, f->row[g].kernel->name);
        fputs("</b>", p->out);
        write_loops(p, f->row[g].site);
        fprintf(p->out, ": %llu tasks, %.1f %s", (unsigned long long)f->row[g].tasks, ptoi_page_time(p, f->row[g].time),
                ptoi_page_unit(p));
        write_links(p, f, g);
        fputs("</li>\n", p->out);
    }
    fputs("</ul>\n", p->out);
}

static void write_scope(struct page *p, const struct folded *f, uint32_t n, int depth)
{
    const struct recorded_scope *s = &f->record->scopes.node[n];
    fprintf(p->out, "<details%s><summary>", depth < OPEN_DEPTH ? " open=\"open\"" : "");
    fputs(n == 0 ? "the run" : s->site ? "scope at " : "scope", p->out);
    if (n > 0) {
        write_place(p, s->site);
        write_loops(p, s->site);
        fprintf(p->out, ": opened %llu times, open for %.1f %s", (unsigned long long)s->opened,
                ptoi_page_time(p, s->time), ptoi_page_unit(p));
    }
    fprintf(p->out, "%s %llu tasks, %.1f %s of kernels, at most %llu bytes</summary>\n", n == 0 ? ":" : ";",
            (unsigned long long)f->tasks[n], ptoi_page_time(p, f->time[n]), ptoi_page_unit(p),
            (unsigned long long)s->held_max);
    write_rows(p, f, n);
    for (uint32_t inner = s->first; inner != 0; inner = f->record->scopes.node[inner].next)
        write_scope(p, f, inner, depth + 1);
    fputs("</details>\n", p->out);
}

bool ptoi_scopes_write(struct page *p)
{
    const struct recorder *r = p->own;
    struct folded *f = calloc(1, sizeof *f);
    if (f) f->row_of = malloc((r->tasks + 1) * sizeof *f->row_of);
    const bool ok = f && f->row_of;
    if (ok) {
        f->record = r;
        fold(f);
        fprintf(p->out, "<h2>Scopes and graph%s</h2>\n", p->of);
        fputs("<p>Tasks that one line submits in one scope are one row, and what they wait "
              "for is counted by row.</p>\n<div class=\"scopes\">\n",
              p->out);
        write_scope(p, f, 0, 0);
        if (f->rows == ROWS || f->links == LINKS) fputs("<p>There are more rows than are shown.</p>\n", p->out);
        fputs("</div>\n", p->out);
    }
    if (f) free(f->row_of);
    free(f);
    return ok;
}
