/* npz_write.c - see npz.h: an archive is written; members are stored, so each lies there as in a file of its own. */
#include "crc.h"
#include "npz.h"

#include <errno.h>
#include <string.h>

enum { /* signatures, and the bytes of what they begin */
       LOCAL = 0x04034b50,
       CENTRAL = 0x02014b50,
       END = 0x06054b50,
       LOCAL_BYTES = 30,
       CENTRAL_BYTES = 46,
       END_BYTES = 22
};

bool ptoi_npz_is_path(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

static unsigned char *put(unsigned char *to, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++) *to++ = (unsigned char)(n >> 8 * i);
    return to;
}

struct written_member {
    uint64_t at, bytes;
    uint32_t crc;
};

/* What an entry of the directory and the head of a member have in common, from the version on. */
static unsigned char *put_common(unsigned char *to, const struct written_member *m, size_t name)
{
    enum { VERSION = 20, FIRST_OF_1980 = 0x21 };
    to = put(to, VERSION, 2);
    to = put(to, 0, 2); /* flags */
    to = put(to, 0, 2); /* stored */
    to = put(to, 0, 2); /* time */
    to = put(to, FIRST_OF_1980, 2);
    to = put(to, m->crc, 4);
    to = put(to, m->bytes, 4);
    to = put(to, m->bytes, 4);
    to = put(to, name, 2);
    return put(to, 0, 2);
}

static void write_member(FILE *out, struct written_member *m, const struct npz_item *item)
{
    unsigned char head[LOCAL_BYTES];
    char header[NPY_HEADER], name[160];
    const int64_t length = ptoi_npy_header(item->array, header, sizeof header);
    snprintf(name, sizeof name, "%.150s.npy", item->name);
    m->bytes = (uint64_t)(length + item->array->bytes);
    m->crc = ~ptoi_crc(ptoi_crc(~0u, header, length), item->array->data, item->array->bytes);
    put_common(put(head, LOCAL, 4), m, strlen(name));
    fwrite(head, 1, LOCAL_BYTES, out);
    fputs(name, out);
    fwrite(header, 1, (size_t)length, out);
    if (item->array->bytes > 0) fwrite(item->array->data, 1, (size_t)item->array->bytes, out);
}

static uint64_t write_entry(FILE *out, const struct written_member *m, const struct npz_item *item)
{
    unsigned char entry[CENTRAL_BYTES] = {0};
    char name[160];
    snprintf(name, sizeof name, "%.150s.npy", item->name);
    put_common(put(put(entry, CENTRAL, 4), 20, 2), m, strlen(name));
    put(entry + 42, m->at, 4);
    fwrite(entry, 1, CENTRAL_BYTES, out);
    fputs(name, out);
    return CENTRAL_BYTES + strlen(name);
}

int ptoi_npz_write(struct whole_file *file, const char *path, const struct npz_item *item, int count,
                   struct host_error *e)
{
    uint64_t at = 0, directory = 0;
    for (int i = 0; i < count; i++) at += (uint64_t)item[i].array->bytes + NPY_HEADER + 512;
    if (at > UINT32_MAX)
        return host_fail(e, HOST_FILE, "cannot write %s: it would be larger than 4 GiB; write .npy files", path);
    struct written_member *m = calloc((size_t)count + 1, sizeof *m);
    if (!m) return host_fail_memory(e);
    if (!ptoi_whole_open(file, path)) {
        free(m);
        return host_fail(e, HOST_FILE, "cannot write %s: %s", path, strerror(errno));
    }
    at = 0;
    for (int i = 0; i < count; i++) {
        m[i].at = at;
        write_member(file->out, &m[i], &item[i]);
        at += LOCAL_BYTES + strlen(item[i].name) + 4 + m[i].bytes;
    }
    for (int i = 0; i < count; i++) directory += write_entry(file->out, &m[i], &item[i]);
    unsigned char end[END_BYTES] = {0};
    put(end, END, 4);
    put(put(end + 8, (uint64_t)count, 2), (uint64_t)count, 2);
    put(put(end + 12, directory, 4), at, 4);
    fwrite(end, 1, END_BYTES, file->out);
    free(m);
    return ptoi_whole_finish(file) ? HOST_OK : host_fail(e, HOST_FILE, "cannot write %s: %s", path, strerror(errno));
}
