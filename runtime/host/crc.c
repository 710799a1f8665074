/* crc.c - see crc.h.
 * Idea       eight bytes at a time, as S. Brumme's and M. Kounavis' "slicing-by-8": table[k][b] is what byte b becomes
 *            when k bytes follow it.  Byte by byte the checksum would take several times as long as the read.
 */
#include "crc.h"

enum { AT_ONCE = 8 };

static void fill(uint32_t table[AT_ONCE][256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t of = i;
        for (int bit = 0; bit < 8; bit++) of = of >> 1 ^ (of & 1 ? 0xedb88320u : 0);
        table[0][i] = of;
    }
    for (int k = 1; k < AT_ONCE; k++)
        for (int i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

/* The first byte is the lowest. */
static uint32_t four(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint32_t ptoi_crc(uint32_t crc, const void *data, int64_t bytes)
{
    uint32_t table[AT_ONCE][256];
    const unsigned char *at = data;
    fill(table);
    for (; bytes >= AT_ONCE; bytes -= AT_ONCE, at += AT_ONCE) {
        const uint32_t low = four(at) ^ crc, high = four(at + 4);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
              table[3][high & 255] ^ table[2][high >> 8 & 255] ^ table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    for (; bytes > 0; bytes--) crc = crc >> 8 ^ table[0][(crc ^ *at++) & 255];
    return crc;
}
