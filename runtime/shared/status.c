/* status.c - names and texts of status codes, element types and worker types. */
#include <pto/pto_status.h>

const char *pto_status_name(PTOStatus status)
{
    switch (status) {
#define PTO_STATUS(name, value, text)                                                                                  \
    case name:                                                                                                         \
        return #name;
#include <pto/status.def>
#undef PTO_STATUS
    }
    return "PTO_ERR_UNKNOWN";
}

const char *pto_status_text(PTOStatus status)
{
    switch (status) {
#define PTO_STATUS(name, value, text)                                                                                  \
    case name:                                                                                                         \
        return text;
#include <pto/status.def>
#undef PTO_STATUS
    }
    return "unknown status";
}

static const struct {
    const char *name;
    int64_t bytes;
} types[PTO_TYPE_COUNT] = {
    [PTO_BYTE] = {"byte", 1}, [PTO_F16] = {"f16", 2},   [PTO_BF16] = {"bf16", 2}, [PTO_F32] = {"f32", 4},
    [PTO_F64] = {"f64", 8},   [PTO_I8] = {"i8", 1},     [PTO_I16] = {"i16", 2},   [PTO_I32] = {"i32", 4},
    [PTO_I64] = {"i64", 8},   [PTO_U8] = {"u8", 1},     [PTO_U16] = {"u16", 2},   [PTO_U32] = {"u32", 4},
    [PTO_U64] = {"u64", 8},   [PTO_BOOL] = {"bool", 1},
};

const char *pto_type_name(PTOType type) { return (unsigned)type < PTO_TYPE_COUNT ? types[type].name : "?"; }
int64_t pto_type_bytes(PTOType type) { return (unsigned)type < PTO_TYPE_COUNT ? types[type].bytes : 0; }

const char *pto_worker_type_name(PTOWorkerType type)
{
    static const char *const names[PTO_WORKER_TYPES] = {
#define PTO_WORKER(id, name) name,
#include <pto/workers.def>
#undef PTO_WORKER
    };
    return (unsigned)type < PTO_WORKER_TYPES ? names[type] : "?";
}
