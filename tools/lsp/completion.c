/* completion.c - what can be written at the cursor.
 * Idea       the text in front of the cursor says what kind of word it is; the good result knows the words.  Where
 *            there are too many for a list that is read, only words that begin with the typed letters are sent, the
 *            nearest first, and the client asks again when more is typed.
 * Tests      test/lsp/requests.py
 */
#include "completion.h"
#include "describe.h"
#include "server.h"
#include <string.h>
#include <strings.h>

/* The numbers of the protocol. */
enum item_number {
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_VARIABLE = 6,
    ITEM_MODULE = 9,
    ITEM_KEYWORD = 14,
    ITEM_CONSTANT = 21,
    ITEM_STRUCT = 22,
    ITEM_OPERATOR = 24,
    ITEM_TYPE = 25
};

static enum item_number number_of(enum name_kind kind)
{
    switch (kind) {
    case NAME_MODULE: return ITEM_MODULE;
    case NAME_STRUCT: return ITEM_STRUCT;
    case NAME_FIELD: return ITEM_FIELD;
    case NAME_KERNEL: return ITEM_OPERATOR;
    case NAME_FUNCTION: return ITEM_FUNCTION;
    case NAME_CONSTANT: return ITEM_CONSTANT;
    case NAME_DIMENSION:
    case NAME_ELEMENTS: return ITEM_TYPE;
    default: return ITEM_VARIABLE;
    }
}

enum { MOST_ITEMS = 500 };

/* ---- items ------------------------------------------------------------------------------------------------------- */

struct items {
    struct server *server;
    struct document *document;
    struct result *result;
    size_t offset; /* of the cursor, in the result */
    const struct cursor *cursor;
    scope_list scope;
    struct strbuf *out;
    bool is_filtered; /* the names are too many: only those that begin with the prefix */
    bool is_cut;      /* some were left out, so the client asks again when the prefix has changed */
    size_t name_count;
};

/* The names are that many; MOST_ITEMS of them are shown. */
static void expect_names(struct items *w, size_t count) { w->is_filtered = count > MOST_ITEMS; }

static bool is_wanted(struct items *w, const char *name)
{
    if (!w->is_filtered) return true;
    const struct word *prefix = &w->cursor->prefix;
    const bool is_one =
        w->name_count < MOST_ITEMS && strncasecmp(name, w->document->text + prefix->begin, prefix->length) == 0;
    w->name_count += is_one;
    w->is_cut |= !is_one;
    return is_one;
}

/* detail, insert: or NULL; sort: its place among the groups. */
static void add(struct items *w, const char *label, enum item_number number, const char *detail, const char *insert,
                int sort)
{
    strbuf_printf(w->out, "%s{\"label\":", w->out->data[w->out->length - 1] == '[' ? "" : ",");
    strbuf_json(w->out, label, strlen(label));
    strbuf_printf(w->out, ",\"kind\":%d", number);
    if (detail && *detail) {
        strbuf_puts(w->out, ",\"detail\":");
        strbuf_json(w->out, detail, strlen(detail));
    }
    if (insert) {
        strbuf_puts(w->out, ",\"insertText\":");
        strbuf_json(w->out, insert, strlen(insert));
    }
    STRBUF(key);
    strbuf_printf(&key, "%d%s", sort, label);
    strbuf_puts(w->out, ",\"sortText\":");
    strbuf_json(w->out, strbuf_text(&key), key.length);
    strbuf_putc(w->out, '}');
}

static void add_symbol(struct items *w, const char *name, const struct symbol *s, const struct ast *decl,
                       enum name_kind kind, int sort)
{
    STRBUF(detail);
    describe_type(s, &detail);
    if (detail.length == 0 && decl && (kind == NAME_KERNEL || kind == NAME_FUNCTION))
        describe_declaration(w->result, decl, &detail);
    add(w, name, number_of(kind), strbuf_text(&detail), NULL, sort);
}

static void add_words(struct items *w, const char *const *words, size_t count, const char *behind)
{
    for (size_t i = 0; i < count; i++) {
        STRBUF(insert);
        strbuf_printf(&insert, "%s%s", words[i], behind);
        add(w, words[i], ITEM_KEYWORD, NULL, strbuf_text(&insert), 5);
    }
}

/* ---- behind a dot ------------------------------------------------------------------------------------------------ */

static void add_module(struct items *w, const struct module *m)
{
    expect_names(w, (size_t)m->symbol_count);
    for (int i = 0; i < m->symbol_count; i++) {
        const struct symbol *s = m->symbols[i];
        if (s->kind == SYM_MODULE || !is_wanted(w, s->name)) continue;
        add_symbol(w, s->name, s, s->decl,
                   s->kind == SYM_KERNEL   ? NAME_KERNEL
                   : s->kind == SYM_ORCH   ? NAME_FUNCTION
                   : s->kind == SYM_STRUCT ? NAME_STRUCT
                                           : NAME_CONSTANT,
                   1);
    }
}

static const struct symbol *structure_of(const struct type *t, bool is_indexed)
{
    while (t && t->kind == TYPE_ARRAY && is_indexed) t = t->element;
    return t && t->kind == TYPE_STRUCT ? t->structure : NULL;
}

static void add_members(struct items *w)
{
    const struct cursor *c = w->cursor;
    const char *text = w->document->text;
    if (c->chain.count == 0) return;
    const struct in_scope *root = scope_find(&w->scope, text + c->chain.data[0].begin, c->chain.data[0].length);
    const struct symbol *s = root ? root->symbol : NULL;
    if (s && s->kind == SYM_MODULE && s->target && c->chain.count == 1) {
        add_module(w, s->target);
        return;
    }
    const struct type *type = s ? s->type : NULL;
    const struct symbol *structure = structure_of(type, c->is_indexed.data[0]);
    for (size_t i = 1; i < c->chain.count && structure; i++) {
        const struct symbol *field = NULL;
        for (int k = 0; k < structure->formal_count; k++)
            if (strlen(structure->formals[k]->name) == c->chain.data[i].length &&
                memcmp(structure->formals[k]->name, text + c->chain.data[i].begin, c->chain.data[i].length) == 0)
                field = structure->formals[k];
        type = field ? field->type : NULL;
        structure = structure_of(type, c->is_indexed.data[i]);
    }
    for (int k = 0; structure && k < structure->formal_count; k++)
        add_symbol(w, structure->formals[k]->name, structure->formals[k], NULL, NAME_FIELD, 1);
    if (!structure && type && type->kind == TYPE_TENSOR) {
        add(w, "T", ITEM_FIELD, "transposed", NULL, 1);
        add(w, "permute", ITEM_FUNCTION, "its dimensions in another order", "permute(", 1);
    }
}

/* ---- in a call --------------------------------------------------------------------------------------------------- */

const struct symbol *completion_callee(const struct document *d, const scope_list *scope, const struct open_call *call)
{
    const struct word *first = call->module.length > 0 ? &call->module : &call->callee;
    const struct in_scope *found = first->length > 0 ? scope_find(scope, d->text + first->begin, first->length) : NULL;
    const struct symbol *s = found ? found->symbol : NULL;
    if (s && call->module.length > 0) {
        const struct module *m = s->kind == SYM_MODULE ? s->target : NULL;
        s = NULL;
        for (int i = 0; m && i < m->symbol_count; i++)
            if (strlen(m->symbols[i]->name) == call->callee.length &&
                memcmp(m->symbols[i]->name, d->text + call->callee.begin, call->callee.length) == 0)
                s = m->symbols[i];
    }
    return s && (s->kind == SYM_KERNEL || s->kind == SYM_ORCH) ? s : NULL;
}

/* The formal that comes next, with its marker. */
static void add_formal(struct items *w)
{
    const struct symbol *callee = completion_callee(w->document, &w->scope, &w->cursor->call);
    const int i = w->cursor->call.argument;
    if (!callee || i >= callee->formal_count) return;
    const struct symbol *f = callee->formals[i];
    const bool is_marked = f->dir != DIR_NONE && f->dir != DIR_IN && f->dir != DIR_HOST;
    const bool is_known = scope_find(&w->scope, f->name, strlen(f->name)) != NULL;
    STRBUF(label);
    STRBUF(insert);
    STRBUF(detail);
    strbuf_printf(&label, "%s%s%s", is_marked ? direction_text(f->dir) : "", is_marked ? " " : "", f->name);
    strbuf_printf(&insert, "%s%s%s", is_marked ? direction_text(f->dir) : "", is_marked ? " " : "",
                  is_known ? f->name : "");
    strbuf_puts(&detail, "formal: ");
    describe_type(f, &detail);
    if (insert.length > 0) add(w, strbuf_text(&label), ITEM_VARIABLE, strbuf_text(&detail), strbuf_text(&insert), 0);
}

/* ---- anywhere ---------------------------------------------------------------------------------------------------- */

static void add_names(struct items *w)
{
    static const char *const words[] = {"import", "const", "param", "struct",        "kernel", "export", "orch",
                                        "let",    "var",   "view",  "for",           "while",  "do",     "if",
                                        "else",   "match", "scope", "drop",          "return", "break",  "continue",
                                        "assert", "print", "await", "static_assert", "in",     "out",    "inout",
                                        "acc",    "own",   "host",  "true",          "false"};
    static const char *const types[] = {"f16", "bf16", "i8", "i16", "i32", "u8", "u16", "u32", "u64", "array"};
    expect_names(w, w->scope.count);
    for (size_t i = 0; i < w->scope.count; i++) {
        const struct in_scope *n = &w->scope.data[i];
        if (!is_wanted(w, n->name)) continue;
        if (scope_find(&w->scope, n->name, strlen(n->name)) != n) continue; /* an inner one hides it */
        add_symbol(w, n->name, n->symbol, n->decl, n->kind, i < 64 ? 1 : 2);
    }
    for (int i = 0; builtins_name(i); i++)
        if (!scope_find(&w->scope, builtins_name(i), strlen(builtins_name(i))))
            add(w, builtins_name(i), ITEM_FUNCTION, "builtin", NULL, 3);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) add(w, types[i], ITEM_TYPE, NULL, NULL, 4);
    add_words(w, words, sizeof words / sizeof *words, "");
}

static void add_attributes(struct items *w)
{
    for (int i = 0; attrs_name(i); i++) {
        const char *const name = attrs_name(i);
        add_words(w, &name, 1, "(");
    }
}

static void add_all(struct items *w)
{
    static const char *const workers[] = {
#define PTO_WORKER(id, name) name,
#include <pto/workers.def>
#undef PTO_WORKER
    };
    const struct cursor *c = w->cursor;
    if (c->is_in_text) return;
    if (c->is_after_dot)
        add_members(w);
    else if (c->is_after_at)
        add_attributes(w);
    else if (c->is_after_on)
        add_words(w, workers, sizeof workers / sizeof *workers, "");
    else {
        add_formal(w);
        add_names(w);
    }
}

void completion_request(struct server *s, const json_t *params, struct reply *reply)
{
    struct cursor cursor;
    struct position p;
    struct document *d = server_document(s, params);
    if (!d || !d->good || !in_position(params, "position", &p)) return;
    const size_t here = lines_offset(&d->lines, p, s->encoding);
    cursor_find(&cursor, d->text, here);
    struct items w = {.server = s,
                      .document = d,
                      .result = d->good,
                      .offset = document_to_good(d, here),
                      .cursor = &cursor,
                      .out = &reply->json};
    scope_names(d->good, w.offset, &w.scope);
    strbuf_puts(w.out, "{\"items\":[");
    add_all(&w);
    strbuf_printf(w.out, "],\"isIncomplete\":%s}", w.is_cut ? "true" : "false");
    vec_free(&w.scope);
    cursor_free(&cursor);
}
