#!/usr/bin/env python3
"""Print pow5.h: the table of powers of five for csv_pow5().

An entry is 5^q as a 128-bit integer whose top bit is set: 5^q scaled by a power
of two, rounded down; for -27 <= q < 0, where the reciprocal is all that the
product needs, rounded up.  (Lemire, "Number parsing at a gigabyte per second",
Software: Practice and Experience 51, 2021, sections 5 and 8.)

Usage: make_pow5.py > pow5.h
"""

MIN_EXPONENT = -342
MAX_EXPONENT = 308
STEP = 27		# 5^27 is the last that fits in 64 bits
NEAR = 54		# numbers with 17 digits have exponents from -NEAR on, as a rule


def entry(q):
    """5^q, scaled to 128 bits."""
    power = 5 ** abs(q)
    if q >= 0:
        excess = power.bit_length() - 128
        return power >> excess if excess > 0 else power << -excess
    # 2^(bits + 127) / 5^-q lies strictly between 2^127 and 2^128
    quotient = (1 << (power.bit_length() + 127)) // power
    return quotient + 1 if q >= -27 else quotient


def main():
    first = MIN_EXPONENT // STEP
    exponents = list(range(-NEAR, STEP))
    exponents += [STEP * i for i in range(first, MAX_EXPONENT // STEP + 1)]
    print("""\
/*
 * pow5.h
 *		Powers of five, 128 bits each.  Made by make_pow5.py; do not edit.
 *
 * A macro, so that host and device code can each have an array of it.
 */
#ifndef CSV_POW5_H
#define CSV_POW5_H
""")
    print(f"#define CSV_POW5_MIN\t({MIN_EXPONENT})")
    print(f"#define CSV_POW5_MAX\t{MAX_EXPONENT}")
    print(f"#define CSV_POW5_NEAR\t{NEAR}")
    print(f"#define CSV_POW5_STEP\t{STEP}")
    print(f"#define CSV_POW5_FIRST\t({first})")
    print(f"#define CSV_POW5_COUNT\t{len(exponents)}")
    print("""
/*
 * {high, low} 64 bits of the entries for each exponent from -CSV_POW5_NEAR to
 * CSV_POW5_STEP - 1, and then for CSV_POW5_STEP times CSV_POW5_FIRST and on
 */
#define CSV_POW5_TABLE \\""")
    for i, q in enumerate(exponents):
        value = entry(q)
        assert value.bit_length() == 128
        end = "" if i == len(exponents) - 1 else ", \\"
        print(f"\t{{UINT64_C(0x{value >> 64:016x}), "
              f"UINT64_C(0x{value & (1 << 64) - 1:016x})}}{end}")
    print()
    print("#endif\t\t\t\t\t\t\t/* CSV_POW5_H */")


if __name__ == "__main__":
    main()
