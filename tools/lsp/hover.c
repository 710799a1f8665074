/* hover.c - what a name is: its declaration as it is written, then what the compiler found out.
 * Idea       sentences in the words of the compiler's listings: --emit=types, memory, tasks, kernels.
 * Tests      test/lsp/requests.py
 */
#include "codegen.h"
#include "describe.h"
#include "memory_facts.h"
#include "navigation.h"
#include "sema/equations/equations.h"
#include "syntax/ast_walk.h"
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
    MOST_TASKS = 12,  /* of a function that is called, that are shown */
    MOST_CALLS = 100, /* in a function */
    MOST_BYTES = 1 << 17
};

/* ---- an id ------------------------------------------------------------------------------------------------------- */

/* The page of the message id that stands at the offset, in a comment or a string. */
static bool add_page(struct server *s, const struct document *d, size_t offset, struct strbuf *out)
{
    size_t begin = offset, end = offset;
    while (begin > 0 && isalnum((unsigned char)d->text[begin - 1])) begin--;
    while (end < d->length && isalnum((unsigned char)d->text[end])) end++;
    for (int id = 0; id < DIAG_COUNT; id++) {
        const char *name = diag_id_name((enum diag_id)id);
        if (strlen(name) != end - begin || memcmp(name, d->text + begin, end - begin) != 0) continue;
        strbuf_puts(out,
                    s->options->explain_pages[id] ? s->options->explain_pages[id] : diag_id_title((enum diag_id)id));
        return true;
    }
    return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void add_value(const struct symbol *s, struct strbuf *out)
{
    const enum type_kind kind = s->type->kind;
    if (s->has_value && kind == TYPE_BOOL)
        strbuf_puts(out, s->int_value ? " = true" : " = false");
    else if (s->has_value && kind == TYPE_INT)
        strbuf_printf(out, " = %" PRId64, s->int_value);
    else if (s->has_value && (kind == TYPE_F32 || kind == TYPE_F64))
        strbuf_printf(out, " = %.17g", s->real_value);
    else if (s->kind == SYM_LET && s->definition && kind == TYPE_INT) {
        strbuf_puts(out, " = ");
        size_text(s->definition, out);
    }
}

static void add_type(const struct symbol *s, struct strbuf *out)
{
    STRBUF(type);
    describe_type(s, &type);
    if (type.length == 0) return;
    strbuf_printf(out, "`%s%s%s", s->kind == SYM_FORMAL ? direction_text(s->dir) : "",
                  s->kind == SYM_FORMAL && *direction_text(s->dir) ? " " : "", strbuf_text(&type));
    add_value(s, out);
    strbuf_putc(out, '`');
    if (s->region && s->region->base && s->region->base != s)
        strbuf_printf(out, ", a piece of '%s'", s->region->base->name);
    strbuf_puts(out, "\n\n");
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static void add_cost(const struct symbol *kernel, struct strbuf *out)
{
    const struct equations *q = equations_of(kernel);
    if (!q && kernel->instances) q = equations_of(kernel->instances);
    if (!q || kernel->decl->kernel->cost) return;
    strbuf_puts(out, "Its cost, as inferred: `");
    size_text(q->cost, out);
    strbuf_puts(out, "`\n\n");
}

/* The kernel in index notation that the place is in; NULL: none. */
static const struct equations *equations_at(const struct result *r, uint32_t offset)
{
    const struct module *m = result_main(r);
    for (int i = 0; i < m->symbol_count; i++)
        for (const struct symbol *k = m->symbols[i]; k && k->kind == SYM_KERNEL; k = k->next_overload) {
            const struct ast *block = k->decl->kernel->block;
            if (!block || offset < block->at.begin || offset > block->at.end) continue;
            const struct equations *q = equations_of(k);
            return q || !k->instances ? q : equations_of(k->instances);
        }
    return NULL;
}

static void add_index(const struct equations *q, const struct name_use *use, struct strbuf *out)
{
    static const char *const fates[] = {[EQ_PROVED] = "proved to be inside",
                                        [EQ_CHECKED_AT_CALL] = "checked at the call",
                                        [EQ_CHECKED_HERE] = "checked in the kernel"};
    for (int i = 0; i < q->var_count; i++) {
        const struct eq_var *v = q->vars[i];
        if (v->at.begin != use->declared.begin || !v->low || !v->high) continue;
        strbuf_printf(out, "`%s in ", v->symbol->name);
        size_text(v->low, out);
        strbuf_puts(out, " .. ");
        size_text(v->high, out);
        strbuf_puts(out, "`\n\n");
    }
    for (int i = 0; i < q->access_count; i++)
        for (int d = 0; d < q->accesses[i]->rank; d++) {
            const struct eq_access *a = q->accesses[i];
            if (use->at.begin < a->index[d].at.begin || use->at.end > a->index[d].at.end) continue;
            strbuf_printf(out, "As index %d of '%s' it is %s.\n\n", d, a->formal ? a->formal->name : a->temp->name,
                          fates[a->index[d].fate]);
        }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static bool count_call(void *cx, struct ast *n)
{
    *(int *)cx += n->kind == AST_CALL;
    return true;
}

/* The listing of --emit=tasks for a function without an error: its head, then a line for each call, which begins with
 * the number of its line.  Nothing for a function with so many calls that the listing would take too long. */
static void list_tasks(struct result *r, const struct symbol *f, struct strbuf *text)
{
    int calls = 0;
    ast_walk(f->decl->orch.body, count_call, &calls);
    if (r->error_count == 0 && calls <= MOST_CALLS) codegen_tasks_of(&r->front, r->checked, f, text);
}

/* The line of a call without its number and indentation; length 0: it is no task. */
static const char *task_of(const char *line, size_t *length, int *number)
{
    char *text;
    *number = (int)strtol(line, &text, 10);
    *length = strcspn(text, "\n");
    while (*length > 0 && *text == ' ') text++, --*length;
    const char *call = memmem(text, *length, "task ", 5), *other = memmem(text, *length, "call ", 5);
    if (*number == 0 || (!call && !other)) *length = 0; /* the head, a loop, a brace */
    return text;
}

static const struct symbol *function_at(const struct result *r, uint32_t offset)
{
    const struct module *m = result_main(r);
    for (int i = 0; i < m->symbol_count; i++) {
        const struct symbol *s = m->symbols[i];
        if (s->kind == SYM_ORCH && offset >= s->decl->at.begin && offset < s->decl->at.end) return s;
    }
    return NULL;
}

/* In the function around the place: the calls of that name in its line, and for what they may wait. */
static void add_waits(struct result *r, const struct name_use *use, struct strbuf *out)
{
    const struct symbol *f = function_at(r, use->at.begin);
    const int wanted = source_place(r->front.sources, use->at.file, use->at.begin).line;
    STRBUF(name);
    STRBUF(listing);
    strbuf_printf(&name, " %s(", use->symbol->name);
    if (f) list_tasks(r, f, &listing);
    for (const char *line = strbuf_text(&listing); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length;
        int number;
        const char *text = task_of(line, &length, &number);
        if (number == wanted && memmem(text, length, strbuf_text(&name), name.length))
            strbuf_printf(out, "`%.*s`\n\n", (int)length, text);
    }
}

/* The tasks that a function submits. */
static void add_tasks(struct result *r, const struct symbol *f, struct strbuf *out)
{
    int count = 0;
    STRBUF(listing);
    list_tasks(r, f, &listing);
    for (const char *line = strbuf_text(&listing); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length;
        int number;
        const char *text = task_of(line, &length, &number);
        if (length > 0 && count++ < MOST_TASKS)
            strbuf_printf(out, "%s- line %d: `%.*s`\n", count == 1 ? "It submits:\n" : "", number, (int)length, text);
    }
    if (count > MOST_TASKS) strbuf_printf(out, "- and %d more\n", count - MOST_TASKS);
}

/* The plan of a large program takes longer than a person waits for a hover; hints make it. */
static bool is_plan_soon(const struct result *r)
{
    size_t bytes = 0;
    for (int i = 0; i < r->checked->module_count; i++)
        bytes += source_get(r->front.sources, r->checked->modules[i]->ast->file)->length;
    return r->plan || bytes <= MOST_BYTES;
}

/* ---- the request ------------------------------------------------------------------------------------------------- */

static void add_findings(struct result *r, const struct name_use *use, struct strbuf *out)
{
    const struct symbol *s = use->symbol;
    const struct equations *q = use->at.file == result_main(r)->ast->file ? equations_at(r, use->at.begin) : NULL;
    if (s && s->type) add_type(s, out);
    if (q) add_index(q, use, out);
    if (!s) return;
    if (s->kind == SYM_MODULE && s->target) strbuf_printf(out, "The module `%s`\n\n", s->target->real_path);
    if (s->kind == SYM_KERNEL) add_cost(s, out);
    if ((s->kind == SYM_KERNEL || s->kind == SYM_ORCH) && !use->declares) add_waits(r, use, out);
    if (s->kind == SYM_ORCH) add_tasks(r, s, out);
    while (s->next_of) s = s->next_of;
    if (s->kind == SYM_LET && use->kind == NAME_TENSOR && is_plan_soon(r)) memory_describe(r, s, out);
}

void hover_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct document *d;
    struct position p;
    STRBUF(text);
    const struct name_use *use = name_under(s, params, &d);
    const struct ast *decl = use ? describe_node(d->good, use) : NULL;
    if (!d || !in_position(params, "position", &p)) return;
    if (decl) {
        strbuf_puts(&text, "```pto\n");
        describe_declaration(d->good, decl, &text);
        strbuf_puts(&text, "\n```\n\n");
        add_findings(d->good, use, &text);
    } else if (!add_page(s, d, lines_offset(&d->lines, p, s->encoding), &text)) {
        return;
    }
    strbuf_puts(&reply->json, "{\"contents\":{\"kind\":\"markdown\",\"value\":");
    strbuf_json(&reply->json, strbuf_text(&text), text.length);
    strbuf_putc(&reply->json, '}');
    if (decl) {
        strbuf_puts(&reply->json, ",\"range\":");
        range_json(&reply->json, location_range(s, d, d->good, use->at));
    }
    strbuf_putc(&reply->json, '}');
}
