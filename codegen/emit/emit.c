/* emit.c - what every printer of C asks: names, sites, texts.
 * Owner      the names and sites of struct emitter.
 * Invariant  a name that was asked for is marked as used.
 * Tests      test/lit/codegen/
 */
#include "emit.h"
#include "source_text.h"
#include <ctype.h>
#include <pto/pto_limits.h>
#include <string.h>

const char *emit_name(struct emitter *e, const struct symbol *s)
{
    ptrmap_set(&e->used, s, (void *)s);
    const char *name = ptrmap_get(&e->c_names, s);
    if (!name) { /* its declaration could not be lowered, which was said there */
        if (diag_error_count(e->front->diag) == 0) emit_unsupported(e, s->decl->at, "this name");
        return s->name;
    }
    return name;
}

const char *emit_declare(struct emitter *e, const struct symbol *s, const char *wanted)
{
    const char *name = names_take(&e->names, mangle_plain(e->mem, wanted));
    ptrmap_set(&e->c_names, s, (void *)name);
    return name;
}

void emit_unsupported(struct emitter *e, struct span at, const char *what)
{
    diag_error(e->front->diag, DIAG_E99, at, "%s is not supported yet by the code generator", what);
}

void emit_at(struct emitter *e, struct span at)
{
    out_at(e->out, source_get(e->front->sources, at.file)->path,
           source_place(e->front->sources, at.file, at.begin).line);
}

/* A line may be as long as the program. */
static uint32_t line_digest(struct emitter *e, const char *line, size_t length)
{
    if (line == e->digested) return e->line_digest;
    uint32_t digest = PTO_LINE_DIGEST_SEED;
    for (size_t i = 0; i < length; i++) digest = PTO_LINE_DIGEST(digest, (unsigned char)line[i]);
    e->digested = line;
    return e->line_digest = digest;
}

/* "i, k": the loops around what is printed. */
static const char *names_of_loops(struct emitter *e)
{
    STRBUF(b);
    for (size_t i = 0; i < e->loops.count; i++) strbuf_printf(&b, "%s%s", i ? ", " : "", e->loops.data[i]);
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

int emit_site(struct emitter *e, struct span at, const char *text)
{
    const struct source_map *sources = e->front->sources;
    size_t length;
    const char *line = source_line(sources, at.file, at.begin, &length);
    struct place place = source_place(sources, at.file, at.begin), end = source_place(sources, at.file, at.end);
    struct site site = {.file = source_get(sources, at.file)->path,
                        .line = place.line,
                        .column = place.column,
                        .width = end.line == place.line ? end.column - place.column : (int)length + 1 - place.column,
                        .digest = line_digest(e, line, length),
                        .text = text,
                        .indices = names_of_loops(e)};
    for (size_t i = e->sites.count; i > 0 && e->sites.count - i <= e->offered; i--) {
        const struct site *known = &e->sites.data[i - 1];
        if (known->file == site.file && known->line == site.line && known->column == site.column &&
            strcmp(known->text, text) == 0)
            return (int)i - 1;
    }
    vec_push(&e->sites, site);
    return (int)e->sites.count - 1;
}

void emit_mark_site(struct emitter *e, struct span at, const char *text)
{
    emit_at(e, at);
    out_line(e->out, "pto_at(rt, &sites[%d]);", emit_site(e, at, text));
}

const char *emit_public(const struct emitter *e, const char *name)
{
    return e->options->prefix ? arena_printf(e->mem, "%s%s", e->options->prefix, name) : name;
}

const char *emit_stem(const struct emitter *e) { return e->checked->modules[0]->name; }

const char *emit_source_text(struct emitter *e, struct span at) { return source_one_line(e->front, e->mem, at); }

const char *emit_comment_text(struct emitter *e, const char *text)
{
    char *copy = arena_copy(e->mem, text, strlen(text));
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ' || (p > copy && ((p[-1] == '*' && *p == '/') || (p[-1] == '/' && *p == '*'))))
            *p = '?';
    return copy;
}

const char *c_string(struct emitter *e, const char *text)
{
    STRBUF(b);
    strbuf_c_string(&b, text, strlen(text));
    return arena_copy(e->mem, b.data, b.length);
}
