/* acl.h - the part of the CANN library that the backend uses: types and functions, declared here, loaded at run time.
 *
 * Idea       nothing of CANN is needed to build.  Names, parameters and values are what its public documentation says;
 *            acl.def lists the functions, and both this table and the stub of the tests are made of that list.
 * Owner      the process: one library, one aclInit, one aclrtSetDevice for each device in use, however many runtimes
 *            there are.
 * Tests      test/ascend */
#ifndef PTOI_ASCEND_ACL_H
#define PTOI_ASCEND_ACL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int aclError;
typedef void *aclrtContext;
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;

enum {
    ACL_SUCCESS = 0,
    ACL_ERROR_REPEAT_INITIALIZE = 100002,
    ACL_EVENT_CAPTURE_STREAM_PROGRESS = 2, /* flag of an event that is queried */
};
typedef enum {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;
typedef enum { ACL_MEM_MALLOC_HUGE_FIRST = 0 } aclrtMemMallocPolicy;
typedef enum {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
} aclrtMemcpyKind;

/* Loading a binary. */
typedef enum { ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3 } aclrtBinaryLoadOptionType;
typedef union {
    int32_t cpuKernelMode;
    uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;
typedef struct {
    aclrtBinaryLoadOptionType type;
    aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;
typedef struct {
    aclrtBinaryLoadOption *options;
    size_t numOpt;
} aclrtBinaryLoadOptions;

/* Launching. */
typedef enum { ACL_RT_ENGINE_TYPE_AIC = 0, ACL_RT_ENGINE_TYPE_AIV = 1 } aclrtEngineType;
typedef enum { ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE = 3 } aclrtLaunchKernelAttrId;
typedef union {
    aclrtEngineType engineType;
    uint32_t rsv[4];
} aclrtLaunchKernelAttrValue;
typedef struct {
    aclrtLaunchKernelAttrId id;
    aclrtLaunchKernelAttrValue value;
} aclrtLaunchKernelAttr;
typedef struct {
    aclrtLaunchKernelAttr *attrs;
    size_t numAttrs;
} aclrtLaunchKernelCfg;
typedef struct {
    uint32_t addrOffset, dataOffset;
} aclrtPlaceHolderInfo;

struct acl {
#define ACL(result, name, parameters)       result(*name) parameters;
#define ACL_MAYBE(result, name, parameters) ACL(result, name, parameters)
#include "acl.def"
#undef ACL
#undef ACL_MAYBE
};

/* The library, initialized; counted.  NULL: none, and `message` says why. */
const struct acl *ptoi_acl_open(char *message, size_t size);
/* false: aclFinalize failed. */
bool ptoi_acl_close(char *message, size_t size);

/* aclrtSetDevice for the calling thread; the last release resets the device.  Not 0: the error of the call. */
aclError ptoi_acl_take_device(int32_t device);
aclError ptoi_acl_release_device(int32_t device);

/* "aclrtMalloc failed with error 207001: <what the library says>". */
void ptoi_acl_explain(const struct acl *acl, char *text, size_t size, const char *call, aclError error);

#endif
