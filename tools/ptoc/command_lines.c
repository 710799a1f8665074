/* command_lines.c - see command_lines.h.
 * Idea       what is built for a run has fewer levels and less optimization than what is built to be kept.
 * Owner      the words are the arena's, or the caller's.
 * Invariant  the same options, environment and installation give the same words.
 * Tests      test/lit/run/build.test, test/lit/run/cache-kernels.test, test/lit/run/objects-ahead.test
 */
#include "command_lines.h"
#include "process.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Adds the blank-separated words of a one-line file, if there is one. */
static void add_words_of_file(words *argv, struct arena *mem, const char *path)
{
    FILE *in = fopen(path, "r");
    char line[4096];
    if (!in) return;
    if (fgets(line, sizeof line, in)) {
        char *rest = NULL;
        for (char *w = strtok_r(line, " \t\r\n", &rest); w; w = strtok_r(NULL, " \t\r\n", &rest))
            vec_push(argv, arena_copy(mem, w, strlen(w)));
    }
    fclose(in);
}

/* $CC may be `ccache gcc`. */
void command_add_compiler(words *argv, const struct toolchain *t)
{
    const char *cc = t->o->cc ? t->o->cc : getenv("CC");
    char *rest = NULL, *text = arena_copy(t->mem, cc ? cc : "", cc ? strlen(cc) : 0);
    if (cc && access(cc, X_OK) == 0) {
        vec_push(argv, cc);
        return;
    }
    for (char *w = strtok_r(text, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) vec_push(argv, w);
    if (argv->count == 0) vec_push(argv, "cc");
}

static bool is_shared(const struct toolchain *t) { return t->o->emit == EMIT_SO; }

bool toolchain_is_for_one_run(const struct toolchain *t)
{
    return t->o->verb == VERB_RUN || t->o->emit == EMIT_OBJECTS;
}

bool toolchain_compiles_together(const struct toolchain *t)
{
    return toolchain_is_for_one_run(t) || t->o->optimize == 0;
}

/* Lines, for the report of a crash.  To follow the variables of optimized code takes the C compiler a third of its
 * time, so a debugger sees them only where -g or -O0 asks for it. */
static const char *debug_information(const struct toolchain *t)
{
    return t->o->debug || (t->o->optimize == 0 && !toolchain_is_for_one_run(t)) ? "-g" : "-g1";
}

void command_add_common(words *argv, const struct toolchain *t)
{
    vec_push(argv, t->o->optimize < 0 ? "-O2" : arena_printf(t->mem, "-O%d", t->o->optimize));
    vec_push(argv, debug_information(t));
    if (is_shared(t)) {
        vec_push(argv, "-fPIC");
        vec_push(argv, "-fvisibility=hidden"); /* calls within the object are as those of a program */
    }
    vec_push(argv, arena_printf(t->mem, "-I%s/include", t->prefix));
    add_words_of_file(argv, t->mem, arena_printf(t->mem, "%s/share/pto/cflags", t->prefix));
}

const char *toolchain_level_of_machine(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return "base";
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? "v4"
               : "v3";
#else
    return NULL;
#endif
}

/* The only level of kernels in index notation, or NULL.  A program that is built for this run needs no other level than
 * this machine's, unless --cpu asks for one. */
static const char *only_level(const struct toolchain *t)
{
    if (t->level) return t->level;
    if (!toolchain_is_for_one_run(t)) return t->o->cpu;
    for (int i = 0; i < t->o->run_arg_count; i++)
        if (strncmp(t->o->run_args[i], "--cpu", strlen("--cpu")) == 0) return NULL;
    return toolchain_level_of_machine();
}

/* For the C that ptoc wrote. */
void command_add_strict(words *argv, const struct toolchain *t)
{
    vec_push(argv, "-std=c11");
    if (!t->o->no_warnings) { /* -w would take the two errors below away, too */
        vec_push(argv, "-Wall");
        vec_push(argv, "-Wextra");
    }
    vec_push(argv, "-Werror=implicit-function-declaration"); /* no C since 1999: a result would be taken for an int */
    vec_push(argv, "-Werror=return-type"); /* a task without a status would succeed or fail by chance */
    if (t->o->warnings_are_errors) vec_push(argv, "-Werror");
    const char *const level = only_level(t);
    if (level) {
        char *const define = arena_printf(t->mem, "-DPTO_ONLY_LEVEL=%s", level); /* in capitals */
        for (char *c = strchr(define, '=') + 1; *c; c++) *c = (char)toupper((unsigned char)*c);
        vec_push(argv, define);
    }
    if (toolchain_compiles_together(t)) vec_push(argv, "-DPTO_TOGETHER=1");
    if (toolchain_is_for_one_run(t)) {
        vec_push(argv, "-DPTO_FOR_ONE_RUN=1");
        /* To inline them costs the compiler 10 to 20 ms each, and saves the run some nanoseconds each. */
        vec_push(argv, "-DPTO_CALL_SUBMITS=1");
    }
    command_add_common(argv, t);
}

/* The instructions of a level for the whole file: each function has them by its attribute too, but GCC sets up its
 * tables anew where a function has others than the file. */
static void add_instructions(words *argv, const char *level)
{
    static const char *const v3[] = {"-mavx2",  "-mfma",   "-mbmi",  "-mbmi2", "-mf16c",
                                     "-mlzcnt", "-mmovbe", "-mcx16", "-msahf", "-mpopcnt"};
    static const char *const v4[] = {"-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"};
    const bool has_v4 = level && strcmp(level, "v4") == 0, has_v3 = has_v4 || (level && strcmp(level, "v3") == 0);
    for (size_t i = 0; i < sizeof v3 / sizeof *v3 && has_v3; i++) vec_push(argv, v3[i]);
    for (size_t i = 0; i < sizeof v4 / sizeof *v4 && has_v4; i++) vec_push(argv, v4[i]);
}

/* A kernel in index notation.  By its pragma alone GCC calls a root, which may set errno, and makes no vectors. */
void command_add_kernel(words *argv, const struct toolchain *t)
{
    command_add_strict(argv, t);
    vec_push(argv, "-fno-math-errno");
    if (toolchain_is_for_one_run(t)) add_instructions(argv, only_level(t));
}

/* A program whose kernels are compiled apart, or are others', only submits tasks: to optimize that takes the C compiler
 * longer than what most runs gain, some nanoseconds a task. */
void command_add_program(words *argv, const struct toolchain *t)
{
    command_add_strict(argv, t);
    if (toolchain_is_for_one_run(t) && t->only_submits && t->o->optimize < 0) vec_push(argv, "-O0");
}

/* Gold comes with binutils, but not on every system.  A sanitizer's own memory may lie where gold puts a program's. */
bool command_links_quickly(const struct toolchain *t)
{
    words common = {0};
    bool good = toolchain_compiles_together(t);
    command_add_common(&common, t);
    for (size_t i = 0; i < common.count && good; i++) good = strncmp(common.data[i], "-fsanitize", 10) != 0;
    vec_free(&common);
    char *const path = good ? program_find("ld.gold", NULL, NULL) : NULL;
    free(path);
    return path != NULL;
}

/* Gold takes half of the time of the common linker, and a third less where no plugin looks at each object. */
void command_add_quick_link(words *argv)
{
    vec_push(argv, "-fuse-ld=gold");
    vec_push(argv, "-fno-lto");
}

/* An object has the kernels that it calls, and shares the runtime with the program that loads it.  To copy the debug
 * information of the archives takes the linker twice as long as all else. */
void command_add_libraries(words *argv, const struct toolchain *t, bool is_quick)
{
    const char *const lib = arena_printf(t->mem, t->o->debug ? "%s/lib/pto/debug" : "%s/lib", t->prefix);
    vec_push(argv, arena_printf(t->mem, "%s/libpto_kernels.a", lib));
    vec_push(argv, is_shared(t) ? arena_printf(t->mem, "%s/lib/libpto.so", t->prefix)
                                : arena_printf(t->mem, "%s/libpto_runtime.a", lib));
    if (is_shared(t)) {
        vec_push(argv, "-shared");
        vec_push(argv, "-Wl,--no-undefined");
        vec_push(argv, arena_printf(t->mem, "-Wl,--version-script=%s/share/pto/program.map", t->prefix));
    }
    // A program that is launched as several ranks opens the library that joins them while it runs.
    if (!is_shared(t)) vec_push(argv, arena_printf(t->mem, "-Wl,-rpath,%s/lib", t->prefix));
    /* To read the names of a BLAS takes the linker longer than the rest of a small program. */
    if (!is_quick || !t->defines_kernels || t->o->link_input_count > 0)
        add_words_of_file(argv, t->mem, arena_printf(t->mem, "%s/share/pto/kernel-libs", t->prefix));
    add_words_of_file(argv, t->mem, arena_printf(t->mem, "%s/share/pto/ldflags", t->prefix));
    vec_push(argv, "-lm");
    vec_push(argv, "-pthread");
    if (toolchain_is_for_one_run(t)) vec_push(argv, "-Wl,--build-id=none"); /* a digest of all of it */
}
