/* test_cpu.c - a sum asks for memory ahead on every processor but AMD's of family 19h, as the system names it. */
#include "unit.h"
#include <pto/pto_equations.h>
#include <stdlib.h>
#include <string.h>

/* The number or word after the first line's name; empty: no such line. */
static void read_cpuinfo(const char *name, char *found, size_t size)
{
    char line[1024];
    FILE *info = fopen("/proc/cpuinfo", "r");
    assert_non_null(info);
    *found = '\0';
    while (!*found && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, name, strlen(name)) != 0) continue;
        snprintf(found, size, "%s", colon + 1 + strspn(colon + 1, " "));
        found[strcspn(found, "\n")] = '\0';
    }
    fclose(info);
}

TEST(a_processor_that_foresees_rows_is_not_asked)
{
    char vendor[64], family[64];
    read_cpuinfo("vendor_id", vendor, sizeof vendor);
    read_cpuinfo("cpu family", family, sizeof family);
    const bool foresees = strcmp(vendor, "AuthenticAMD") == 0 && atoi(family) == 0x19;
    for (int i = 0; i < 3; i++) EXPECT_EQ(pto_asks_ahead(), !foresees);
}
