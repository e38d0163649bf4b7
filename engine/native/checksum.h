/* CRC-32 as zlib computes it: polynomial 0xEDB88320 (reflected), start and end inverted. */
#ifndef LIMBERJACK_CHECKSUM_H
#define LIMBERJACK_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` covers (0: nothing yet) followed by `bytes`. */
static inline uint32_t checksum(uint32_t crc, const void *bytes, size_t size)
{
    /* four bits at a time: a table small enough to be read at sight, fast enough for files of megabytes */
    static const uint32_t table[16] = {
        0x00000000u, 0x1DB71064u, 0x3B6E20C8u, 0x26D930ACu, 0x76DC4190u, 0x6B6B51F4u, 0x4DB26158u, 0x5005713Cu,
        0xEDB88320u, 0xF00F9344u, 0xD6D6A3E8u, 0xCB61B38Cu, 0x9B64C2B0u, 0x86D3D2D4u, 0xA00AE278u, 0xBDBDF21Cu,
    };
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= byte[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return ~crc;
}

#endif
