/* python.c - see python.h. */
#include "python.h"
#include "arrow.h"
#include "dlpack.h"

static struct python_calls python;

void pto_python_calls_(const struct python_calls *calls) { python = *calls; }

/* NULL: the capsule has another name, as one has that was taken. */
static void *holds(void *capsule, const char *name)
{
    return python.capsule_is_valid(capsule, name) ? python.capsule_pointer(capsule, name) : NULL;
}

void pto_python_end_capsule_(void *capsule)
{
    struct DLManagedTensorVersioned *versioned = holds(capsule, "dltensor_versioned");
    struct DLManagedTensor *unversioned = holds(capsule, "dltensor");
    struct ArrowArray *array = holds(capsule, "arrow_array");
    struct ArrowSchema *schema = holds(capsule, "arrow_schema");
    if (versioned && versioned->deleter) versioned->deleter(versioned);
    if (unversioned && unversioned->deleter) unversioned->deleter(unversioned);
    if (array && array->release) array->release(array);
    if (schema && schema->release) schema->release(schema);
    if (array) python.raw_free(array);
    if (schema) python.raw_free(schema);
}

void pto_python_let_go_(void *object)
{
    if (!python.is_initialized()) return;
    const int state = python.gil_ensure();
    python.decref(object);
    python.gil_release(state);
}
