/* dlpack.h - the structs of DLPack 1.0 and of the unversioned interface before it, declared here: no header of another
 * project is needed.  The layout is that of the interface, and is asserted. */
#ifndef PTOI_DLPACK_H
#define PTOI_DLPACK_H
#include <stddef.h>
#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 0 };
enum { DLPACK_CPU = 1, DLPACK_EXTENSION = 12, DLPACK_ASCEND = 21 };                 /* device types */
enum { DLPACK_INT, DLPACK_UINT, DLPACK_FLOAT, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 }; /* type codes */
enum { DLPACK_FLAG_READ_ONLY = 1, DLPACK_FLAG_IS_COPIED = 2 };

struct dlpack_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL: row-major, from producers before 1.2 */
    uint64_t byte_offset;
};

struct DLManagedTensor {
    struct dlpack_tensor tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *);
};

struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *);
    uint64_t flags;
    struct dlpack_tensor tensor;
};

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(struct dlpack_tensor) == 48 && offsetof(struct dlpack_tensor, shape) == 24 &&
                    offsetof(struct dlpack_tensor, byte_offset) == 40 && offsetof(struct dlpack_tensor, code) == 20),
               "DLTensor");
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(struct DLManagedTensor) == 64 && offsetof(struct DLManagedTensor, manager_ctx) == 48),
               "DLManagedTensor");
_Static_assert(sizeof(void *) != 8 || (sizeof(struct DLManagedTensorVersioned) == 80 &&
                                       offsetof(struct DLManagedTensorVersioned, deleter) == 16 &&
                                       offsetof(struct DLManagedTensorVersioned, tensor) == 32),
               "DLManagedTensorVersioned");

#endif
