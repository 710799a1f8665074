/* json_in.c - members of JSON objects by name.
 * Idea       a client may leave out everything, or send another type: each function says so, and none fails.
 * Tests      test/lsp/fuzz.py
 */
#include "json_in.h"
#include <string.h>

const json_t *in_get(const json_t *object, const char *path)
{
    while (object && *path) {
        char key[64];
        const size_t length = strcspn(path, ".");
        if (length >= sizeof key) return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        object = json_object_get(object, key);
        path += length + (path[length] == '.');
    }
    return object;
}

const char *in_text(const json_t *object, const char *path) { return json_string_value(in_get(object, path)); }

bool in_bool(const json_t *object, const char *path, bool otherwise)
{
    const json_t *value = in_get(object, path);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

int64_t in_integer(const json_t *object, const char *path, int64_t otherwise)
{
    const json_t *value = in_get(object, path);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static uint32_t clamp(int64_t n) { return n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; }

bool in_position(const json_t *object, const char *path, struct position *p)
{
    const json_t *value = in_get(object, path);
    const json_t *line = in_get(value, "line"), *character = in_get(value, "character");
    if (!json_is_integer(line) || !json_is_integer(character)) return false;
    *p = (struct position){clamp(json_integer_value(line)), clamp(json_integer_value(character))};
    return true;
}

bool in_range(const json_t *object, const char *path, struct range *r)
{
    const json_t *value = in_get(object, path);
    if (!in_position(value, "start", &r->begin) || !in_position(value, "end", &r->end)) return false;
    if (r->begin.line > r->end.line || (r->begin.line == r->end.line && r->begin.character > r->end.character)) {
        const struct position begin = r->end; /* the wrong way round */
        r->end = r->begin;
        r->begin = begin;
    }
    return true;
}
