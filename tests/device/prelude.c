/* Operations that PTX defines and C does not. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef __int128 int128_t;
typedef unsigned __int128 uint128_t;

static inline double float_of(uint64_t bits) {
    double number;
    memcpy(&number, &bits, 8);
    return number;
}

/* Conversion to an integer, which saturates. */
static inline int64_t to_s64(double x) {
    if (x != x) return INT64_MIN;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

/* The smaller of two numbers, or the one that is not NaN; -0 is less than 0. */
static inline double least(double a, double b) {
    if (a != a || b != b) return a != a ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static inline double largest(double a, double b) {
    if (a != a || b != b) return a != a ? b : a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

/* b, with the lowest bits of a inserted. */
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t first, uint32_t length) {
    if (first > 63 || length == 0) return b;
    uint64_t mask = (length > 63 ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1) << first;
    return (b & ~mask) | (a << first & mask);
}
