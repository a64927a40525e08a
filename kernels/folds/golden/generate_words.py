#!/usr/bin/env python3
"""Writes the golden file of words: accumulators of a few arrays, and their words.

    generate_words.py FILE           writes it
    generate_words.py --check FILE   exit status 1 where FILE is not what it would write

Shares no code with the kernels: bytes are those of kernels/accumulators/bytes.h, words those of
client/core/WORDS.md, and sums are made of Python's integers and fractions. A line of the file is a
name, the accumulator in hexadecimal digits, and its words.
"""
import fractions
import math
import pathlib
import struct
import sys

TYPES = ['int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'float16',
         'bfloat16', 'float32', 'float64']
STATISTICS = {'count': 0, 'sum': 1, 'mean': 7, 'variance': 8, 'l1_norm': 10, 'l2_norm': 11,
              'nonzero_count': 12, 'bitwise_and': 17, 'bitwise_or': 18, 'bitwise_xor': 19}
PARTS = {'count': '', 'sum': 's', 'mean': 's', 'variance': 'sqt', 'l1_norm': 'm', 'l2_norm': 'q',
         'nonzero_count': 't', 'bitwise_and': 'b', 'bitwise_or': 'b', 'bitwise_xor': 'b'}
# Of sums of elements: lowest exponent and limbs; squares have twice the exponent.
FORMATS = {'float32': (-149, 6, 10), 'float64': (-1074, 34, 67)}
POSITIVE_INFINITY, NEGATIVE_INFINITY, OTHER_THAN_NEGATIVE_ZERO = 1, 2, 4


def crc64(data):
    """CRC-64/XZ."""
    rest = 2**64 - 1
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0xC96C5795D7870F42 if rest & 1 else 0)
    return rest ^ (2**64 - 1)


def sealed(data):
    return data + crc64(data).to_bytes(8, 'little')


def integer(value):
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, 'little')


def pieces(magnitude, count):
    return [(magnitude >> (32 * i)) & 0xFFFFFFFF for i in range(count)]


class Number:
    """A sum: its flags (None for integers), its value in units, and for how many limbs there is
    room."""

    def __init__(self, addends, exponent, limbs, floating):
        self.limbs = limbs
        self.flags = 0 if floating else None
        finite = [x for x in addends if math.isfinite(x)]
        if floating:
            for x in addends:
                if x != 0 or math.copysign(1, x) > 0:
                    self.flags |= OTHER_THAN_NEGATIVE_ZERO
                if x == math.inf or x != x:
                    self.flags |= POSITIVE_INFINITY
                if x == -math.inf or x != x:
                    self.flags |= NEGATIVE_INFINITY
        is_finite = len(finite) == len(addends)
        units = sum(map(fractions.Fraction, finite)) / fractions.Fraction(2)**exponent
        assert not is_finite or units.denominator == 1
        self.value = int(units) if is_finite else 0

    def bytes(self):
        size = abs(self.value)
        limbs = [(size >> (64 * i)) & (2**64 - 1) for i in range(self.limbs)]
        used = [i for i, limb in enumerate(limbs) if limb]
        lowest, end = (used[0], used[-1] + 1) if used else (0, 0)
        first = (self.flags or 0) | (8 if self.value < 0 else 0)
        return bytes([first, lowest, end - lowest]) + b''.join(
            limb.to_bytes(8, 'little') for limb in limbs[lowest:end])

    def words(self):
        flags = [] if self.flags is None else [(self.flags >> i) & 1 for i in range(3)]
        sign = -1 if self.value < 0 else 1
        return flags + [sign * piece for piece in pieces(abs(self.value), 2 * self.limbs)]


def squares(elements, element_type):
    floating = element_type in FORMATS
    if not floating:
        limbs = 3 if element_type.endswith('64') else 2
        return Number([x * x for x in elements], 0, limbs, False)
    exponent, _, limbs = FORMATS[element_type]
    special = Number([x * x for x in elements if not math.isfinite(x)], 0, limbs, True)
    number = Number([], 2 * exponent, limbs, True)
    exact = sum(fractions.Fraction(x)**2 for x in elements if math.isfinite(x))
    number.flags = special.flags | (OTHER_THAN_NEGATIVE_ZERO if elements else 0)
    if special.flags & 3 == 0:
        number.value = int(exact / fractions.Fraction(2)**(2 * exponent))
    return number


def sum_of(elements, element_type):
    if element_type not in FORMATS:
        return Number(elements, 0, 2, False)
    exponent, limbs, _ = FORMATS[element_type]
    return Number(elements, exponent, limbs, True)


def words_of(opening, rest):
    padded = opening + bytes(-len(opening) % 4)
    return ([1, 0x44574647, 1, len(opening)] +
            [int.from_bytes(padded[i:i + 4], 'little') for i in range(0, len(padded), 4)] + rest)


def group(elements, element_type, parts, ignore_nan):
    """The bytes and the words of one group of a reduction."""
    data, words = integer(len(elements)), pieces(len(elements), 2)
    counted = [x for x in elements if not (ignore_nan and x != x)]
    bits = int(element_type.lstrip('uintfloa'))
    tally = [sum(x != 0 for x in counted), sum(x != x for x in elements),
             sum(isinstance(x, float) and math.isinf(x) for x in elements)]
    for part in 'sqtmb':
        if part not in parts:
            continue
        if part in 'sqm':
            number = (squares(counted, element_type) if part == 'q' else
                      sum_of([abs(x) for x in counted] if part == 'm' else counted, element_type))
            data, words = data + number.bytes(), words + number.words()
        elif part == 't':
            data += b''.join(map(integer, tally))
            words += [piece for count in tally for piece in pieces(count, 2)]
        else:
            every, some, odd = 2**bits - 1, 0, 0
            for x in elements:
                every, some, odd = every & x, some | x, odd ^ x
            data += b''.join(x.to_bytes(bits // 8, 'little') for x in (every, some, odd))
            words += [(x >> bit) & 1 for x in (~every, some, odd) for bit in range(bits)]
    return (data, words) if elements else (integer(0), [0] * len(words))


def reduction(element_type, statistics, groups, ignore_nan=False, ddof=0):
    parts = ''.join(PARTS[s] for s in statistics) + ('t' if ignore_nan else '')
    header = (bytes([TYPES.index(element_type), ignore_nan, 0]) + integer(ddof) +
              bytes([len(statistics)]) + bytes(STATISTICS[s] for s in statistics) +
              integer(len(groups)))
    opening = b'GFAC\x01\x00\x01' + header
    made = [group(elements, element_type, parts, ignore_nan) for elements in groups]
    return (sealed(opening + b''.join(data for data, _ in made)),
            words_of(sealed(opening), [word for _, words in made for word in words]))


def histogram(element_type, edges, channels, weight_type=None, weights=None):
    """Of samples in channels of equally many, with explicit edges, which are dropped outside."""
    count = sum(map(len, channels))
    header = bytes([TYPES.index(element_type), 0, 0, 0, weight_type is not None,
                    TYPES.index(weight_type or 'int8')])
    header += integer(len(channels)) + integer(0) + integer(1)
    header += b'\x01' + integer(len(edges) - 1) + struct.pack(f'<{len(edges)}d', *edges)
    opening = b'GFAC\x01\x00\x02' + header
    outcomes, bins = [], []
    for c, samples in enumerate(channels):
        outcomes += [sum(x < edges[0] for x in samples), sum(x > edges[-1] for x in samples),
                     sum(x != x for x in samples)]
        for i, lower in enumerate(edges[:-1]):
            upper, last = edges[i + 1], i + 2 == len(edges)
            chosen = [j for j, x in enumerate(samples) if lower <= x < upper or
                      (last and x == upper)]
            bins.append([weights[c][j] for j in chosen] if weight_type else len(chosen))
    data = integer(count) + b''.join(map(integer, outcomes))
    words = [piece for value in [count] + outcomes for piece in pieces(value, 2)]
    run = 0
    opener = b'\x80' if weight_type else b'\x00'
    for value in bins:
        number = sum_of(value, weight_type) if weight_type else value
        words += number.words() if weight_type else pieces(number, 2)
        empty = number == 0 if not weight_type else not number.flags and number.value == 0
        if empty:
            run += 1
            continue
        data += (opener + integer(run) if run else b'')
        data += number.bytes() if weight_type else integer(number)
        run = 0
    data += opener + integer(run) if run else b''
    return sealed(opening + data), words_of(sealed(opening), words)


NAN, INFINITY = math.nan, math.inf
CASES = {
    'sum_int32': reduction('int32', ['sum'], [[1, -2, 3, 2**31 - 1]]),
    'negative_sum_int64': reduction('int64', ['sum', 'l1_norm'], [[-2**63] * 5 + [7]]),
    'squares_uint64': reduction('uint64', ['variance'], [[2**64 - 1, 2**40, 0]], ddof=1),
    'groups_float32': reduction('float32', ['mean', 'variance'],
                                [[1.5, -2.25, 2.0**-149], [], [-0.0, -0.0],
                                 [1.0, -(2.0**127)]]),
    'ignored_nan_float32': reduction('float32', ['sum', 'nonzero_count'], [[NAN, 0.5, NAN, -0.0]],
                                     ignore_nan=True),
    'not_finite_float64': reduction('float64', ['sum', 'l2_norm'],
                                    [[INFINITY, 1.0], [NAN], [-INFINITY, 2.0]]),
    'large_float64': reduction('float64', ['sum'], [[1.7976931348623157e308] * 3 + [5e-324]]),
    'bits_uint8': reduction('uint8', ['bitwise_and', 'bitwise_or', 'bitwise_xor'],
                            [[0b10110, 0b11100, 0b10101], []]),
    'count_float64': reduction('float64', ['count'], [[1.0, 2.0]]),
    'counts_int16': histogram('int16', [-2.0, 0.0, 1.0, 5.0], [[-3, -2, 5, 1], [0, 0, 9, 9]]),
    'weights_float32': histogram('float32', [0.0, 1.0, 2.0], [[0.5, 0.25, 3.0, NAN]], 'float32',
                                 [[1.0, -(2.0**-140), 9.0, 9.0]]),
    'weights_int64': histogram('float64', [0.0, 1.0, 2.0], [[1.5, 2.0, 0.0]], 'int64',
                               [[-2**63, -2**63, 11]]),
}


def main():
    text = ''.join(f'{name} {data.hex()} {" ".join(map(str, words))}\n'
                   for name, (data, words) in CASES.items())
    path = pathlib.Path(sys.argv[-1])
    if sys.argv[1] == '--check':
        return 0 if path.read_text(encoding='utf-8') == text else 1
    path.write_text(text, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
