/* map.c - see map.h. */
#include "map.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reader {
    struct kernel_map *map;
    char *message;
    size_t size;
    int line;
    bool has_object; /* the section that is being read */
};

static PTOStatus wrong(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static PTOStatus wrong(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = snprintf(r->message, r->size, "%s:%d: ", r->map->path, r->line);
    if (n > 0 && (size_t)n < r->size) vsnprintf(r->message + n, r->size - (size_t)n, format, args);
    va_end(args);
    return PTO_ERR_CONFIG;
}

static PTOStatus no_memory(struct reader *r)
{
    snprintf(r->message, r->size, "no memory for the map of kernels %s", r->map->path);
    return PTO_ERR_NOMEM;
}

/* Without blanks around it. */
static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text)) text++;
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

/* A comment begins a line, or stands behind a blank: a path may have a #. */
static void cut_comment(char *line)
{
    for (char *p = line; *p; p++)
        if ((*p == '#' || *p == ';') && (p == line || isspace((unsigned char)p[-1]))) {
            *p = '\0';
            return;
        }
}

/* ---- a section --------------------------------------------------------------------------------------------------- */

static PTOStatus end_section(struct reader *r)
{
    struct map_entry *e = r->map->entry_count > 0 ? &r->map->entry[r->map->entry_count - 1] : NULL;
    if (!e) return PTO_OK;
    r->line = r->has_object ? r->line : e->line;
    if (!r->has_object) return wrong(r, "kernel '%s' has no object", e->name);
    if (!e->function) e->function = strdup(e->name);
    return e->function ? PTO_OK : no_memory(r);
}

static PTOStatus begin_section(struct reader *r, char *text)
{
    char *end = strchr(text, ']');
    if (!end || *trimmed(end + 1)) return wrong(r, "a section is [kernel], not '%s'", text);
    *end = '\0';
    const char *name = trimmed(text + 1);
    if (!*name) return wrong(r, "a section without a kernel");
    for (int i = 0; i < r->map->entry_count; i++)
        if (strcmp(r->map->entry[i].name, name) == 0)
            return wrong(r, "kernel '%s' stands in line %d already", name, r->map->entry[i].line);
    struct map_entry *grown = realloc(r->map->entry, ((size_t)r->map->entry_count + 1) * sizeof *grown);
    if (!grown) return no_memory(r);
    r->map->entry = grown;
    grown[r->map->entry_count] = (struct map_entry){.name = strdup(name), .line = r->line, .blocks = 1};
    if (!grown[r->map->entry_count].name) return no_memory(r);
    r->map->entry_count++;
    r->has_object = false;
    return PTO_OK;
}

static PTOStatus take_object(struct reader *r, struct map_entry *e, const char *value)
{
    char text[PATH_MAX], path[PATH_MAX];
    const char *slash = strrchr(r->map->path, '/');
    const int folder = *value != '/' && slash ? (int)(slash - r->map->path + 1) : 0;
    if (snprintf(text, sizeof text, "%.*s%s", folder, r->map->path, value) >= (int)sizeof text ||
        !realpath(text, path)) {
        wrong(r, "cannot read the object %s of kernel '%s': %s", text, e->name, strerror(errno));
        return PTO_ERR_IO;
    }
    for (e->object = 0; e->object < r->map->object_count; e->object++)
        if (strcmp(r->map->object[e->object].path, path) == 0) break;
    if (e->object == r->map->object_count) {
        struct map_object *grown = realloc(r->map->object, ((size_t)r->map->object_count + 1) * sizeof *grown);
        if (!grown) return no_memory(r);
        r->map->object = grown;
        grown[r->map->object_count] = (struct map_object){.path = strdup(path)};
        if (!grown[r->map->object_count].path) return no_memory(r);
        r->map->object_count++;
    }
    r->has_object = true;
    return PTO_OK;
}

static PTOStatus take_key(struct reader *r, const char *key, const char *value)
{
    static const char *const engines[] = {
        [MAP_CUBE] = "cube", [MAP_VECTOR] = "vector", [MAP_MIX] = "mix", [MAP_CPU] = "cpu"};
    struct map_entry *e = &r->map->entry[r->map->entry_count - 1];
    if (strcmp(key, "object") == 0) return take_object(r, e, value);
    if (strcmp(key, "function") == 0) {
        free(e->function);
        e->function = strdup(value);
        return e->function ? PTO_OK : no_memory(r);
    }
    if (strcmp(key, "blocks") == 0) {
        char *end;
        const long blocks = strtol(value, &end, 10);
        if (*end || blocks < 1 || blocks > 65535)
            return wrong(r, "blocks is a number from 1 to 65535, not '%s'", value);
        e->blocks = (uint32_t)blocks;
        return PTO_OK;
    }
    if (strcmp(key, "status") == 0) {
        e->has_status = strcmp(value, "yes") == 0;
        return e->has_status || strcmp(value, "no") == 0 ? PTO_OK : wrong(r, "status is yes or no, not '%s'", value);
    }
    if (strcmp(key, "engine") == 0) {
        for (int i = MAP_CUBE; i <= MAP_CPU; i++)
            if (strcmp(engines[i], value) == 0) {
                e->engine = (enum map_engine)i;
                return PTO_OK;
            }
        return wrong(r, "engine is cube, vector, mix or cpu, not '%s'", value);
    }
    return wrong(r, "there is no '%s'; there are object, function, blocks, engine and status", key);
}

static PTOStatus take_line(struct reader *r, char *line)
{
    cut_comment(line);
    char *text = trimmed(line);
    if (!*text) return PTO_OK;
    if (*text == '[') {
        const PTOStatus ended = end_section(r);
        return ended == PTO_OK ? begin_section(r, text) : ended;
    }
    char *equals = strchr(text, '=');
    if (!equals || equals == text) return wrong(r, "`key = value` or [kernel] is expected, not '%s'", text);
    *equals = '\0';
    const char *key = trimmed(text), *value = trimmed(equals + 1);
    if (r->map->entry_count == 0) return wrong(r, "'%s' precedes the first [kernel]", key);
    return *value ? take_key(r, key, value) : wrong(r, "'%s' without a value", key);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct map_entry *)a)->name, ((const struct map_entry *)b)->name);
}

PTOStatus ptoi_kernels_load(struct kernel_map *map, const char *path, char *message, size_t size)
{
    *map = (struct kernel_map){.path = path};
    struct reader r = {.map = map, .message = message, .size = size};
    FILE *in = fopen(path, "r");
    if (!in) {
        snprintf(message, size, "cannot read the map of kernels %s: %s", path, strerror(errno));
        return PTO_ERR_IO;
    }
    char *line = NULL;
    size_t room = 0;
    PTOStatus status = PTO_OK;
    while (status == PTO_OK && getline(&line, &room, in) >= 0) {
        r.line++;
        status = take_line(&r, line);
    }
    if (status == PTO_OK && ferror(in)) {
        snprintf(message, size, "cannot read the map of kernels %s: %s", path, strerror(errno));
        status = PTO_ERR_IO;
    }
    free(line);
    fclose(in);
    if (status == PTO_OK) status = end_section(&r);
    if (status == PTO_OK && map->entry_count > 0)
        qsort(map->entry, (size_t)map->entry_count, sizeof *map->entry, by_name);
    if (status != PTO_OK) ptoi_kernels_unload(map);
    return status;
}

void ptoi_kernels_unload(struct kernel_map *map)
{
    for (int i = 0; i < map->entry_count; i++) {
        free(map->entry[i].name);
        free(map->entry[i].function);
    }
    for (int i = 0; i < map->object_count; i++) free(map->object[i].path);
    free(map->entry);
    free(map->object);
    *map = (struct kernel_map){0};
}

const struct map_entry *ptoi_kernels_find(const struct kernel_map *map, const char *name)
{
    const struct map_entry wanted = {.name = (char *)(uintptr_t)name};
    return map->entry_count > 0 ? bsearch(&wanted, map->entry, (size_t)map->entry_count, sizeof wanted, by_name) : NULL;
}
