/* help.c - what `ptoc --help` prints.
 * Tests      test/lit/diag/usage.test
 */
#include "options.h"

void options_print_help(FILE *out)
{
    static const char *const kinds[] = {
#define EMIT(id, name, function) name,
#include "emits.def"
#undef EMIT
    };
    fputs("ptoc check   f.pto                                  errors and warnings only\n"
          "ptoc build   f.pto [k.c k.o libk.a] -o f [options]  a program ('build' may be left out)\n"
          "ptoc run     f.pto [k.c ...] [run options]          build where needed, and run\n"
          "ptoc graph   f.pto [run options] [--format=dot]     the tasks of a run, which runs no kernel\n"
          "ptoc fmt     [--check|--diff] f.pto                 the usual layout, in place\n"
          "ptoc explain [E08]                                  what a message id means\n"
          "ptoc lsp     [-I DIR] [--log FILE]                  the language server, on standard input and output\n"
          "ptoc --help, ptoc --version\n\n"
          "  -o FILE                    the output file\n"
          "  --emit=KIND                ",
          out);
    for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++)
        fprintf(out, "%s%s%s", i ? ", " : "", kinds[i], i == EMIT_BIN ? " (default)" : "");
    fputs(
        "; text goes to standard output without -o\n"
        "  -D NAME=VALUE              replaces the value of a const of the main file\n"
        "  -I DIR                     another folder to search for imported modules\n"
        "  -O0 .. -O3, -g, --cc=CC    for the C compiler, and which one\n"
        "  --plan=ring|free|min       tensors of a function in one allocation: none, where it costs nothing (default), "
        "all;\n"
        "  --plan=budget=BYTES        as much as fits\n"
        "  --dump=uses,scopes,liveness,slots,ir  what happens to each tensor, its owner, the end of its lifetime, its "
        "slot;\n"
        "                             the IR\n"
        "  --checked                  every run of the program is checked: wrong kernels and dead memory are found\n"
        "  --no-line, --no-fma        no #line in the generated C; products and sums are rounded apart\n"
        "  --no-main                  with --emit=c: only what a C host program calls\n"
        "  --keep, -v                 keep the generated C; show the commands that are run\n"
        "  --no-cache                 run, graph, --emit=so: build anew, and keep nothing\n"
        "  -w, -Wno-W03, -Werror      no warnings; not this one; warnings are errors\n"
        "  --heap BYTES, --rings N    bytes of a heap ring (K, M, G) and number of rings; an error if it surely does "
        "not fit\n"
        "  --diag=json                one message a line, as JSON\n"
        "  --color=auto|always|never  NO_COLOR is respected\n\n"
        "Run options are those of the built program: ptoc run f.pto -- --help lists them.\n"
        "'-' as the file is standard input.\n",
        out);
}
