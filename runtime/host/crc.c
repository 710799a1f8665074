/* crc.c - see crc.h. */
#include "crc.h"

uint32_t ptoi_crc(uint32_t crc, const void *data, int64_t bytes)
{
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (int64_t i = 0; i < bytes; i++) crc = crc >> 8 ^ table[(crc ^ ((const unsigned char *)data)[i]) & 255];
    return crc;
}
