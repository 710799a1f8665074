/* map.h - the map from kernels to functions of object files: the file of --kernels.
 *
 * Idea       read once, sorted by name, then read-only: any thread may read it.  The format is in docs/ascend.md.
 * Tests      test/ascend/test_map.c, test_ascend.c */
#ifndef PTOI_ASCEND_MAP_H
#define PTOI_ASCEND_MAP_H
#include <pto/pto_status.h>

enum map_engine { MAP_NO_ENGINE, MAP_CUBE, MAP_VECTOR, MAP_MIX, MAP_CPU };

struct map_entry {
    char *name, *function;
    int object; /* number of the object file */
    int line;   /* of the map */
    uint32_t blocks;
    enum map_engine engine;
    bool has_status; /* the last word of the arguments is where the kernel says that it failed */
    void *handle;    /* of the function, once it was found */
};

struct map_object {
    char *path;   /* absolute */
    void *handle; /* of the binary, once it was loaded */
};

struct kernel_map {
    const char *path;
    struct map_entry *entry; /* sorted by name */
    int entry_count;
    struct map_object *object; /* each file once, in the order of the map */
    int object_count;
};

/* PTO_ERR_IO, PTO_ERR_CONFIG or PTO_ERR_NOMEM: `message` says what and, for a mistake in the file, in which line.
 * Every object that the map names is there when it succeeds. */
PTOStatus ptoi_kernels_load(struct kernel_map *map, const char *path, char *message, size_t size);
void ptoi_kernels_unload(struct kernel_map *map);
const struct map_entry *ptoi_kernels_find(const struct kernel_map *map, const char *name); /* NULL: it has none */

#endif
