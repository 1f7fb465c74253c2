#!/usr/bin/env python3
"""Print pow5.h: the table of powers of five for csv_decimal_to_double.

An entry is 5^q as a 128-bit integer whose top bit is set: 5^q scaled by a power
of two, rounded down; for -27 <= q < 0, where the reciprocal is all that the
product needs, rounded up.  (Lemire, "Number parsing at a gigabyte per second",
Software: Practice and Experience 51, 2021, sections 5 and 8.)

Usage: make_pow5.py > pow5.h
"""

MIN_EXPONENT = -342
MAX_EXPONENT = 308


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
    count = MAX_EXPONENT - MIN_EXPONENT + 1
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
    print(f"#define CSV_POW5_COUNT\t{count}")
    print()
    print("/* {high, low} 64 bits of the entry for each exponent, from "
          "CSV_POW5_MIN up */")
    print("#define CSV_POW5_TABLE \\")
    for q in range(MIN_EXPONENT, MAX_EXPONENT + 1):
        value = entry(q)
        assert value.bit_length() == 128
        end = "" if q == MAX_EXPONENT else ", \\"
        print(f"\t{{UINT64_C(0x{value >> 64:016x}), "
              f"UINT64_C(0x{value & (1 << 64) - 1:016x})}}{end}")
    print()
    print("#endif\t\t\t\t\t\t\t/* CSV_POW5_H */")


if __name__ == "__main__":
    main()
