/* documents.h - the files that are open in the editor, and what is known of each. */
#ifndef PTOC_LSP_DOCUMENTS_H
#define PTOC_LSP_DOCUMENTS_H
#include "diagnostics.h"
#include "json_in.h"
#include "result.h"

/* Bytes [begin, old_end) of a text became [begin, new_end). */
struct edit {
    size_t begin, old_end, new_end;
};

struct document {
    char *uri, *path, *real; /* real: without links, as struct module has it */
    char *text;
    size_t length;
    int64_t version;
    struct lines lines; /* of the text */
    bool is_dirty;      /* it, or a file it imports, was changed since it was checked */
    /* The newest check: its messages, and the real paths of the files that it read. */
    finding_list findings;
    VEC(char *) files;
    bool has_syntax_error;
    /* The newest without a syntax error, for all that asks about names; NULL: there was none.  Its text is older by the
     * edits. */
    struct result *good;
    VEC(struct edit) edits;
};

typedef VEC(struct document *) document_list;

struct document *document_find(const document_list *list, const char *uri); /* NULL: it is not open */
struct document *document_of_real_path(const document_list *list, const char *real);
struct document *document_open(document_list *list, const char *uri);
void document_free(struct document *d);
/* Takes the text over. */
void document_set_text(struct document *d, char *text, size_t length);
/* Replaces a piece of the text. */
void document_edit(struct document *d, size_t begin, size_t end, const char *text, size_t length);
/* Offsets of the text, and of the text of d->good: a place that was edited away is where its edit begins. */
size_t document_to_good(const struct document *d, size_t offset);
size_t document_from_good(const struct document *d, size_t offset);
/* The same of an offset in another text of the file, older or newer than that of the document: a place that is neither
 * in the begin nor in the end that both have is where the difference begins. */
size_t document_from_text(const struct document *d, const char *text, size_t length, size_t offset);
/* All of this piece of the text of d->good was edited away. */
bool document_has_lost(const struct document *d, struct span at);
void documents_overlay(const document_list *list, struct source_map *sources);
/* A check has read these files. */
void document_note_files(struct document *d, const struct result *r);
bool document_reads(const struct document *d, const char *real);
/* The newest check has read this text of the file; false where that is not known. */
bool document_has_read(const struct document *d, const char *real, const char *text, size_t length);

#endif
