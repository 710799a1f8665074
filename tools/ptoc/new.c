/* new.c - ptoc new DIR: a folder with a program, its test, and what builds and runs them.
 * Idea       texts with the name of the folder in them; what is made is correct by the verb that it is for: `ptoc test`
 *            passes in it.
 * Owner      nothing.
 * Invariant  nothing that exists is written over.
 * Blocks     in files.
 * Tests      test/lit/build/new.test
 */
#include "build.h"
#include "output.h"
#include "syntax/lexer.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NAME stands for the name of the program. */
static const struct {
    const char *path, *text;
} files[] = {
    {"NAME.pto", "// NAME.pto - y = a * x + y on tiles of T elements.\n"
                 "\n"
                 "param a: f32 = 2.0;\n"
                 "const T = 256;\n"
                 "\n"
                 "// One tile.\n"
                 "kernel axpy(in x: f32[T], inout y: f32[T], a: f32) on vector cost T {\n"
                 "  for (int i = 0; i < T; i++) y[i] += a * x[i];\n"
                 "}\n"
                 "\n"
                 "// The tiles are independent of each other: workers take them as they are free.\n"
                 "export orch NAME<N>(in x: f32[N * T], inout y: f32[N * T]) {\n"
                 "  for i in 0 .. N { axpy(x[i * T +: T], inout y[i * T +: T], a); }\n"
                 "  print \"last\", await y[N * T - 1];\n"
                 "}\n"},
    {"NAME_test.pto", "// A test of NAME.pto: `ptoc test` runs it and compares its output with the lines of 'expect'.\n"
                      "// expect: sum 3 5\n"
                      "import \"NAME.pto\" as m;\n"
                      "\n"
                      "const T = m.T;\n"
                      "\n"
                      "kernel fill(out x: f32[T], value: f32) on vector cost T {\n"
                      "  for (int i = 0; i < T; i++) x[i] = value;\n"
                      "}\n"
                      "\n"
                      "export orch main() {\n"
                      "  let x = fill(1.0);\n"
                      "  var y = fill(1.0);\n"
                      "  m.axpy(x, inout y, 2.0);\n"
                      "  let first = await y[0];\n"
                      "  m.axpy(x, inout y, 2.0);\n"
                      "  print \"sum\", first, await y[T - 1];\n"
                      "}\n"},
    {"CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\n"
                       "project(NAME LANGUAGES C)\n"
                       "\n"
                       "# Found where ptoc is in PATH; elsewhere with -DCMAKE_PREFIX_PATH=FOLDER.\n"
                       "find_package(pto 1.0 REQUIRED)\n"
                       "pto_add_program(NAME NAME.pto)\n"
                       "\n"
                       "enable_testing()\n"
                       "add_test(NAME ${PTO_PTOC} test ${CMAKE_CURRENT_SOURCE_DIR})\n"},
    {"README.md",
     "# NAME\n"
     "\n"
     "    ptoc run NAME.pto --dim N=4 --input x=ones --input y=iota      build and run\n"
     "    ptoc test                                                      the tests of this folder\n"
     "    ptoc watch NAME.pto                                            errors, whenever the file is saved\n"
     "    cmake -B build && cmake --build build && ctest --test-dir build\n"},
    {".vscode/settings.json", "{\n"
                              "  \"files.associations\": { \"*.pto\": \"pto\" },\n"
                              "  \"[pto]\": { \"editor.tabSize\": 2, \"editor.insertSpaces\": true }\n"
                              "}\n"},
};

static void add_named(struct strbuf *b, const char *text, const char *name)
{
    for (const char *at; (at = strstr(text, "NAME")) != NULL; text = at + 4) {
        strbuf_add(b, text, (size_t)(at - text));
        strbuf_puts(b, name);
    }
    strbuf_puts(b, text);
}

static int fail(const char *path)
{
    fprintf(stderr, "ptoc: error: cannot make '%s': %s\n", path, strerror(errno));
    return EXIT_FILE;
}

/* The folder, which is new or empty. */
static int make_folder(const char *path, bool *is_new)
{
    *is_new = mkdir(path, 0777) == 0;
    if (*is_new) return EXIT_OK;
    if (errno != EEXIST) return fail(path);
    DIR *folder = opendir(path);
    if (!folder) return fail(path);
    bool is_empty = true;
    for (const struct dirent *e; (e = readdir(folder)) != NULL;)
        is_empty = is_empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
    closedir(folder);
    if (is_empty) return EXIT_OK;
    fprintf(stderr, "ptoc: error: the folder '%s' is not empty\n", path);
    return EXIT_FILE;
}

/* Is the name free in the files above?  A function has it beside the names of the program, and a target beside those
 * that CMake, CTest and CPack keep for themselves. */
static bool is_free(const char *name)
{
    /* clang-format off */
    static const char *const taken[] = {
        "T", "a", "axpy",
        "ALL_BUILD", "INSTALL", "PACKAGE", "RUN_TESTS", "ZERO_CHECK", "all", "clean", "depend", "edit_cache", "help",
        "install", "list_install_components", "package", "package_source", "preinstall", "rebuild_cache", "test",
    };
    /* clang-format on */
    bool is_free = lexer_is_name(name);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) is_free = is_free && strcmp(taken[i], name) != 0;
    return is_free;
}

/* "my-model/" -> "my_model", "for" -> "program_for": a name of the language and of C, and one that is free. */
static void name_of(const char *folder, struct strbuf *name)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    size_t begin = length;
    while (begin > 0 && folder[begin - 1] != '/') begin--;
    STRBUF(plain);
    for (size_t i = begin; i < length; i++) strbuf_putc(&plain, isalnum((unsigned char)folder[i]) ? folder[i] : '_');
    const char *text = strbuf_text(&plain);
    strbuf_printf(name, "%s%s", isalpha((unsigned char)*text) && is_free(text) ? "" : "program_", text);
}

static void path_of(size_t i, const char *folder, const char *name, struct strbuf *path)
{
    strbuf_printf(path, "%s/", folder);
    add_named(path, files[i].path, name);
}

/* The first files, and the folders in the folder that they stand in. */
static void remove_files(size_t count, const char *folder, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        STRBUF(path);
        path_of(i, folder, name, &path);
        unlink(path.data);
        *strrchr(path.data, '/') = '\0';
        if (strchr(files[i].path, '/')) rmdir(path.data);
    }
}

int new_main(const struct options *o)
{
    bool is_new;
    size_t count = 0;
    STRBUF(name);
    name_of(o->topic, &name);
    int result = make_folder(o->topic, &is_new);
    const bool has_folder = result == EXIT_OK;
    for (; count < sizeof files / sizeof *files && result == EXIT_OK; count++) {
        STRBUF(path);
        STRBUF(text);
        path_of(count, o->topic, strbuf_text(&name), &path);
        add_named(&text, files[count].text, strbuf_text(&name));
        char *slash = strrchr(path.data, '/');
        *slash = '\0';
        if (mkdir(path.data, 0777) != 0 && errno != EEXIST) result = fail(path.data);
        *slash = '/';
        if (result == EXIT_OK) result = output_text(path.data, &text);
    }
    if (has_folder && result != EXIT_OK) remove_files(count, o->topic, strbuf_text(&name));
    if (is_new && result != EXIT_OK) rmdir(o->topic);
    if (result == EXIT_OK) printf("made %s; next: cd %s && ptoc test\n", o->topic, o->topic);
    return result;
}
