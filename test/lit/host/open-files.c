// A command line that is refused after a file was opened leaves no file open in the process.
// RUN: rm -rf %t && mkdir %t && %pto-cc %s -o %t/p && %python %S/Inputs/files.py %t
// RUN: %t/p %t/x.npy %t/none.npy 2>&1 | FileCheck %s
// CHECK: error: 'y': cannot open
// CHECK: exit code 4, the same files are open
#define main main_of_demo
#include "Inputs/demo.c"
#undef main
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int first_closed(void)
{
    const int file = open("/dev/null", O_RDONLY);
    close(file);
    return file;
}

int main(int argc, char **argv)
{
    char x[1000], y[1000];
    if (argc != 3) return 1;
    snprintf(x, sizeof x, "--input=x=%s", argv[1]);
    snprintf(y, sizeof y, "--input=y=%s", argv[2]);
    char *words[] = {argv[0], (char[]){"--entry=scale"}, (char[]){"--set=s=1"}, x, y, NULL};
    const int before = first_closed(), code = main_of_demo(5, words);
    printf("exit code %d, %s files are open\n", code, first_closed() == before ? "the same" : "more");
    return 0;
}
