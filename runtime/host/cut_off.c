/* cut_off.c - see cut_off.h.
 * Limits     an object that becomes shorter after this look at it.
 * Tests      test/call/test_call.c
 */
#include "cut_off.h"
#include "read_at.h"
#include "shared/thread_error.h"
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
enum { MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { MACHINE = EM_AARCH64 };
#else
enum { MACHINE = EM_NONE }; /* objects are left to the dynamic linker */
#endif
enum { ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB };

static bool is_ours(const Elf64_Ehdr *head)
{
    return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == ENDIAN && head->e_machine == MACHINE && head->e_phentsize == sizeof(Elf64_Phdr);
}

/* The end of so many bytes there; what no file reaches is the end of the largest one. */
static uint64_t end_of(uint64_t at, uint64_t bytes)
{
    uint64_t end;
    return __builtin_add_overflow(at, bytes, &end) || end > INT64_MAX ? INT64_MAX : end;
}

/* How many bytes the file needs; 0: its program headers cannot be read. */
static uint64_t needed(int fd, const Elf64_Ehdr *head, uint64_t size)
{
    uint64_t most = end_of(head->e_phoff, head->e_phnum * sizeof(Elf64_Phdr));
    if (most > size) return most;
    for (int i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        if (!ptoi_read_at(fd, (int64_t)(head->e_phoff + (uint64_t)i * sizeof segment), &segment, sizeof segment))
            return 0;
        const uint64_t to = segment.p_type == PT_LOAD ? end_of(segment.p_offset, segment.p_filesz) : 0;
        if (to > most) most = to;
    }
    return most;
}

PTOStatus ptoi_object_is_whole(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO without a writer does not block */
    struct stat st;
    Elf64_Ehdr head;
    uint64_t need = 0;
    if (fd < 0) return PTO_OK;
    const bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ptoi_read_at(fd, 0, &head, sizeof head);
    if (is_file && is_ours(&head)) need = needed(fd, &head, (uint64_t)st.st_size);
    close(fd);
    if (need == 0 || need <= (uint64_t)st.st_size) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_IO, "cannot load the program: %s is cut off: it has %lld bytes and needs %llu",
                            path, (long long)st.st_size, (unsigned long long)need);
}
