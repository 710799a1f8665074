/* documents.c - the files that are open in the editor.
 * Idea       the text is the client's; the newest good result is kept beside it, and each edit since then moves the
 *            positions between the two.
 * Owner      the server owns the list; a document its text, messages and result.
 * Invariant  without edits the text of d->good is that of the document.
 * Tests      test/lsp/session.py
 */
#include "documents.h"
#include "allocate.h"
#include "paths.h"
#include <string.h>

struct document *document_find(const document_list *list, const char *uri)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->data[i]->uri, uri) == 0) return list->data[i];
    return NULL;
}

struct document *document_of_real_path(const document_list *list, const char *real)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->data[i]->real, real) == 0) return list->data[i];
    return NULL;
}

struct document *document_open(document_list *list, const char *uri)
{
    struct document *d = allocate(sizeof *d);
    *d = (struct document){.uri = strdup(uri), .path = path_of_uri(uri)};
    d->real = path_real(d->path);
    vec_push(list, d);
    return d;
}

void document_free(struct document *d)
{
    for (size_t i = 0; i < d->files.count; i++) free(d->files.data[i]);
    vec_free(&d->files);
    findings_free(&d->findings);
    result_free(d->good);
    vec_free(&d->edits);
    lines_free(&d->lines);
    free(d->text);
    free(d->real);
    free(d->path);
    free(d->uri);
    free(d);
}

static void take_text(struct document *d, char *text, size_t length)
{
    free(d->text);
    d->text = text;
    d->length = length;
    lines_make(&d->lines, text, length);
    d->is_dirty = true;
}

/* What the new piece has in common with the old one, at both ends, stays where it is: some commands of an editor
 * replace a whole text to change a line of it. */
static struct edit edit_between(const char *old, size_t begin, size_t end, const char *text, size_t length)
{
    const size_t most = end - begin < length ? end - begin : length;
    size_t same = 0, tail = 0;
    while (same < most && old[begin + same] == text[same]) same++;
    while (tail < most - same && old[end - 1 - tail] == text[length - 1 - tail]) tail++;
    return (struct edit){begin + same, end - tail, begin + length - tail};
}

static size_t behind_edit(const struct edit *e, size_t offset)
{
    return offset >= e->old_end ? offset - e->old_end + e->new_end : offset > e->begin ? e->begin : offset;
}

static void note_edit(struct document *d, size_t begin, size_t end, const char *text, size_t length)
{
    if (d->good) vec_push(&d->edits, edit_between(d->text, begin, end, text, length));
}

void document_set_text(struct document *d, char *text, size_t length)
{
    note_edit(d, 0, d->length, text, length);
    take_text(d, text, length);
}

void document_edit(struct document *d, size_t begin, size_t end, const char *text, size_t length)
{
    struct strbuf all = {0};
    strbuf_add(&all, d->text, begin);
    strbuf_add(&all, text, length);
    strbuf_add(&all, d->text + end, d->length - end);
    note_edit(d, begin, end, text, length);
    take_text(d, all.data, all.length);
}

size_t document_to_good(const struct document *d, size_t offset)
{
    for (size_t i = d->edits.count; i-- > 0;) {
        const struct edit *e = &d->edits.data[i];
        offset = offset >= e->new_end ? offset - e->new_end + e->old_end : offset > e->begin ? e->begin : offset;
    }
    return offset;
}

size_t document_from_good(const struct document *d, size_t offset)
{
    for (size_t i = 0; i < d->edits.count; i++) offset = behind_edit(&d->edits.data[i], offset);
    return offset;
}

/* It is the text of d->good, from which the edits are known. */
static bool is_good_text(const struct document *d, const char *text, size_t length)
{
    const struct module *m = d->good ? result_main(d->good) : NULL;
    const struct source *good = m ? source_get(d->good->front.sources, m->ast->file) : NULL;
    return good && good->length == length && memcmp(good->text, text, length) == 0;
}

size_t document_from_text(const struct document *d, const char *text, size_t length, size_t offset)
{
    if (is_good_text(d, text, length)) return document_from_good(d, offset);
    const struct edit edit = edit_between(text, 0, length, d->text, d->length);
    return behind_edit(&edit, offset);
}

bool document_has_lost(const struct document *d, struct span at)
{
    return at.begin < at.end && document_from_good(d, at.begin) == document_from_good(d, at.end);
}

void documents_overlay(const document_list *list, struct source_map *sources)
{
    for (size_t i = 0; i < list->count; i++)
        source_map_overlay(sources, list->data[i]->path, list->data[i]->text, list->data[i]->length);
}

void document_note_files(struct document *d, const struct result *r)
{
    for (size_t i = 0; i < d->files.count; i++) free(d->files.data[i]);
    d->files.count = 0;
    for (int i = 0; i < r->checked->module_count; i++) vec_push(&d->files, strdup(r->checked->modules[i]->real_path));
}

bool document_reads(const struct document *d, const char *real)
{
    for (size_t i = 0; i < d->files.count; i++)
        if (strcmp(d->files.data[i], real) == 0) return true;
    return false;
}

bool document_has_read(const struct document *d, const char *real, const char *text, size_t length)
{
    const struct result *r = d->has_syntax_error ? NULL : d->good;
    for (int i = 0; r && i < r->checked->module_count; i++) {
        const struct module *m = r->checked->modules[i];
        if (strcmp(m->real_path, real) != 0) continue;
        const struct source *source = source_get(r->front.sources, m->ast->file);
        return text && source->length == length && memcmp(source->text, text, length) == 0;
    }
    return false;
}
