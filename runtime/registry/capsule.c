/* capsule.c - see capsule.h. */
#include "capsule.h"
#include "arrow.h"
#include "dlpack.h"

static struct {
    int (*is_valid)(void *, const char *);
    void *(*pointer)(void *, const char *);
    void (*give)(void *);
} python;

void pto_capsule_calls_(int (*is_valid)(void *, const char *), void *(*pointer)(void *, const char *),
                        void (*give)(void *))
{
    python.is_valid = is_valid;
    python.pointer = pointer;
    python.give = give;
}

/* NULL: the capsule has another name, as one has that was taken. */
static void *holds(void *capsule, const char *name)
{
    return python.is_valid(capsule, name) ? python.pointer(capsule, name) : NULL;
}

void pto_capsule_end_(void *capsule)
{
    struct DLManagedTensorVersioned *versioned = holds(capsule, "dltensor_versioned");
    struct DLManagedTensor *unversioned = holds(capsule, "dltensor");
    struct ArrowArray *array = holds(capsule, "arrow_array");
    struct ArrowSchema *schema = holds(capsule, "arrow_schema");
    if (versioned && versioned->deleter) versioned->deleter(versioned);
    if (unversioned && unversioned->deleter) unversioned->deleter(unversioned);
    if (array && array->release) array->release(array);
    if (schema && schema->release) schema->release(schema);
    if (array) python.give(array);
    if (schema) python.give(schema);
}
