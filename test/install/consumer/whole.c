#include <pto/pto_runtime.h>
#include <pto/pto_version.h>
#include <stdio.h>

int main(void)
{
    PTORuntime *rt = pto_runtime_create(NULL, NULL);
    printf("%d %d\n", rt != NULL, pto_version() == PTO_VERSION);
    pto_runtime_destroy(rt);
    return 0;
}
