/* replay.c - a target without libFuzzer: files and changed files for the tests, standard input for AFL++ and for
 * people.
 * Idea       every file of the given folders once, then --mutations N of them, chosen and changed from --seed.
 * Owner      the texts, until the end of the process.
 * Invariant  the process has at most --memory MiB of addresses (sanitizers need more, there it is not set); what breaks
 *            a limit or crashes has been written to --failure first.
 * Blocks     in reading.
 * Tests      fuzz_parse, fuzz_check, fuzz_emit
 */
#include "fuzz.h"
#include "support/vec.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct seed {
    uint8_t *data;
    size_t size;
};

static VEC(struct seed) seeds;
static uint8_t buffer[FUZZ_MAX_BYTES];
static const char *failure;

static void die(const char *what, const char *path)
{
    fprintf(stderr, "fuzz: %s '%s': %s\n", what, path, strerror(errno));
    exit(2);
}

static size_t read_stream(FILE *in, const char *path)
{
    size_t size = fread(buffer, 1, sizeof buffer, in);
    if (ferror(in)) die("cannot read", path);
    return size;
}

static void read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) die("cannot read", path);
    size_t size = read_stream(in, path);
    fclose(in);
    struct seed s = {malloc(size + 1), size};
    if (s.data == NULL) die("no memory for", path);
    memcpy(s.data, buffer, size);
    vec_push(&seeds, s);
}

/* In the order of names, so that a seed of --seed means the same everywhere. */
static void read_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) die("cannot read", path);
    if (!S_ISDIR(st.st_mode)) {
        read_file(path);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) die("cannot read", path);
    for (int i = 0; i < count; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') read_path(inside);
        free(entries[i]);
    }
    free(entries);
}

/* Written before it is tried: whatever happens, the input is there. */
static void try_input(const uint8_t *data, size_t size)
{
    if (failure != NULL) {
        FILE *out = fopen(failure, "wb");
        if (out == NULL || fwrite(data, 1, size, out) != size || fclose(out) != 0) die("cannot write", failure);
    }
    fuzz_input(data, size);
}

static void try_mutations(long count, uint64_t seed)
{
    for (long i = 0; i < count && seeds.count > 0; i++) {
        uint64_t n = seed + (uint64_t)i, random = n * 0x9e3779b97f4a7c15;
        const struct seed *s = &seeds.data[(random >> 33) % seeds.count],
                          *other = &seeds.data[(random >> 13) % seeds.count];
        memcpy(buffer, s->data, s->size);
        size_t size = s->size;
        for (uint64_t more = 0; more <= n % 3; more++)
            size = fuzz_mutate(buffer, size, sizeof buffer, other->data, other->size, n * 4 + more);
        try_input(buffer, size);
    }
}

static void limit_memory(long mebibytes)
{
    struct rlimit limit = {(rlim_t)mebibytes << 20, (rlim_t)mebibytes << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0) die("cannot limit memory of", "this process");
}

static void serve_stdin(void)
{
#ifdef __AFL_LOOP
    while (__AFL_LOOP(10000)) {
        size_t size = read_stream(stdin, "standard input");
        clearerr(stdin);
        fuzz_input(buffer, size);
    }
#else
    size_t size = read_stream(stdin, "standard input");
    fuzz_input(buffer, size);
#endif
}

int main(int argc, char **argv)
{
    long mutations = 0, seed = 1;
    for (int i = 1; i < argc; i++) {
        bool has_value = strncmp(argv[i], "--", 2) == 0 && i + 1 < argc;
        if (has_value && strcmp(argv[i], "--mutations") == 0)
            mutations = strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "--seed") == 0)
            seed = strtol(argv[++i], NULL, 10);
        else if (has_value && strcmp(argv[i], "--memory") == 0)
            limit_memory(strtol(argv[++i], NULL, 10));
        else if (has_value && strcmp(argv[i], "--failure") == 0)
            failure = argv[++i];
        else
            read_path(argv[i]);
    }
    if (seeds.count == 0) serve_stdin();
    for (size_t i = 0; i < seeds.count; i++) try_input(seeds.data[i].data, seeds.data[i].size);
    try_mutations(mutations, (uint64_t)seed);
    if (failure != NULL) remove(failure);
    if (seeds.count > 0) printf("%zu files and %ld changed ones\n", seeds.count, mutations);
    for (size_t i = 0; i < seeds.count; i++) free(seeds.data[i].data);
    vec_free(&seeds);
    return 0;
}
