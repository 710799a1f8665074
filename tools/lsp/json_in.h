/* json_in.h - reading what a client sent: members of JSON objects by name.  JSON is written by strbuf_json(). */
#ifndef PTOC_LSP_JSON_IN_H
#define PTOC_LSP_JSON_IN_H
#include "positions.h"
#include <jansson.h>

/* The member at "textDocument.uri"; NULL: it is not there. */
const json_t *in_get(const json_t *object, const char *path);
/* Its text; NULL: it is not there, or is no string. */
const char *in_text(const json_t *object, const char *path);
bool in_bool(const json_t *object, const char *path, bool otherwise);
int64_t in_integer(const json_t *object, const char *path, int64_t otherwise);
/* {line, character}; false: it is none.  What is negative counts as 0. */
bool in_position(const json_t *object, const char *path, struct position *p);
bool in_range(const json_t *object, const char *path, struct range *r);

#endif
