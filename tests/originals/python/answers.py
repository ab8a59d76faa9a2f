#!/usr/bin/env python3
"""What CPython answers, for `whenstop::python` to be held against: fixtures/python/answers.jsonl.gz.

Usage: python3 answers.py | gzip -9n > ../../../fixtures/python/answers.jsonl.gz     (CPython 3.11)
One row a question: `ask`, its input (`in`; JSON texts stay texts), and `out`: the answer as text, or
null where Python raises.
"""
import json
import random
import struct

random.seed(20261122)


def row(ask, given, out):
    print(json.dumps({"ask": ask, "in": given, "out": out}, separators=(",", ":")))


def answer(function, *given):
    try:
        return function(*given)
    except (ValueError, OverflowError, RecursionError, TypeError):
        return None


# Characters: the code points at which a test changes its answer, and every mapping.
def is_char(code):
    return not 0xD800 <= code <= 0xDFFF


for name in ("isspace", "isprintable", "isalnum", "isdecimal"):
    borders, before = [], False
    for code in filter(is_char, range(0x110000)):
        if getattr(chr(code), name)() != before:
            before = not before
            borders.append(code)
    row(name, None, borders)
for name in ("lower", "upper"):
    changed = {}
    for code in filter(is_char, range(0x110000)):
        mapped = getattr(chr(code), name)()
        if mapped != chr(code):
            changed[code] = mapped
    row(name + " of each", None, changed)

# Texts.
ALPHABETS = [
    "ab'\"\\ \n\r\t\x00\x07\x1b\x1c\x1f\x7f\x80\x85\xa0\xad\u00e9",
    "\u200b\u200d\u2028\u2029\u3000\ufeff\u180e\u0301\u0378\ue000\U0001f600\U000e0001\U000f0000\U0010ffff",
    "aZ\u03a3\u03c3\u03c2\u0130\u0131\u00df\u1e9e\ufb01\u01c5\u0345\u1c89\ua7cb\U00010d50 .",
    "中文字符\uff10\uff11\u0660\u0661\U0001d7d8 ,;",
    "abc xyz_019",
]


def some_text(longest=12):
    letters = "".join(random.sample(ALPHABETS, random.choice((1, 1, 2))))
    return "".join(random.choice(letters) for _ in range(random.randrange(longest)))


texts = ["", "it's", 'it\'s "ok"', '"', "'", "\\", "a\nb\\\u00e9\x07", "\u0391\u03a3", "\u03a3", "A\u03a3\u0301 B", "\x1c7\x1f"]
texts += [some_text() for _ in range(1500)]
for text in texts:
    row("repr", json.dumps(text), repr(text))
    row("strip", text, text.strip())
    row("lower", text, text.lower())
    row("upper", text, text.upper())
    row("dumps", json.dumps(text), json.dumps(text))
    row("dumps kept", json.dumps(text), json.dumps(text, ensure_ascii=False))

# Floats, by their bits.
bits = [0, 1 << 63, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1, 0x000FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF]
bits += [struct.unpack("<Q", struct.pack("<d", value))[0] for value in (
    1e-4, 1e-5, 9.999e-5, 0.0001234, 1e15, 1e16, 9999999999999998.0, 123456789012345680.0, 1e22, 1e23, 5e-324, 0.1, 0.3, 1 / 3,
    2.5, -0.5, 100.0, 1e100, 1e-7, 1.5e-7, 2**53, 2**53 + 2, 1e308, -1e-300, 1234567.891)]
bits += [random.getrandbits(64) for _ in range(1000)]
bits += [struct.unpack("<Q", struct.pack("<d", random.choice((1, -1)) * random.randrange(10**random.randrange(1, 18)) / 10**random.randrange(0, 22)))[0] for _ in range(1000)]
for pattern in bits:
    row("repr of a float", str(pattern), repr(struct.unpack("<d", struct.pack("<Q", pattern))[0]))

# Numbers as texts.
NUMERALS = ["", ".", "0", "-0", "+0", "00", "007", "+7", "--7", "+-7", "1_000", "1__0", "_1", "1_", "1_.0", "1._0", "1.5_5", "1e1_0", "1e_1", "0x10", "0b1",
            "1e5", "1E+05", "1e", "e5", ".5", "5.", "-.5e-3", "inf", "-Infinity", "+nan", "nAn", "infinit", "1e999", "-1e999", "1e-999", "90%", "0,9", "1 0", "１２", "٣.٥", "１_２",
            "1\u00a0", "\u30007", "\x1c7\x1f", "\u200b7", "7\n", "1.0", "1.5", "9" * 20, "-" + "9" * 40, "9" * 4300, "9" * 4301, "1" + "0" * 400, "𝟙𝟚", "½", "²", "Ⅷ", "一", "\x007", "7\x00", "True", "1j", "1d0"]
NUMERALS += ["".join(random.choice("0123456789_.eE+- ١０") for _ in range(random.randrange(1, 8))) for _ in range(1500)]
for text in NUMERALS:
    row("float", json.dumps(text), answer(lambda: repr(float(text))))
    row("int", json.dumps(text), answer(lambda: str(int(text))))

# JSON texts.
SCALARS = ["null", "true", "false", "0", "-0", "1", "-1", "1.0", "-0.0", "0.0", "1e2", "1E400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "-NaN", "+1", "01", "-01", "1.", ".5", "1e", "1e+",
           "0x1", "9007199254740993", "9007199254740992.0", "9007199254740993.0", "18446744073709551615", "18446744073709551616", "18446744073709551616.0", "-9223372036854775809",
           "123456789012345678901234567890", "1e22", "1e23", "100000000000000000000000", "99999999999999991611392", '""', '"a"', '"1"', '"\\u00e9\\ud83d\\ude00"', '"\\u200b"', '"\\x41"', '"\\u12"', '"\\/"',
           '"\\b\\f"', '"a\tb"', '"a', "'a'", "True", "None", "nul", "[]", "{}", "[1,]", "[,]", "{,}", '{"a":1,}', '{"a"}', "{a:1}", '{"a":1}', '{"a":1,"a":2}', '{"b":[true,1.0],"a":{}}', '{"a":{},"b":[1,1]}',
           '{"done": 00}', "[1 2]", "1 2", "", " ", "\n1\r\t", "\u00a01", "\ufeff1", "[1e5,1.5E-7,1e-07]", "//", "[0.1,0.30000000000000004]", "1.0000000000000000000000000000001", "9" * 4300, "9" * 4301, "[" * 500 + "]" * 500]


def some_json(depth=0):
    kind = random.random()
    if depth > 3 or kind < 0.5:
        return random.choice(SCALARS[:46]) if kind < 0.35 else json.dumps(some_text(), ensure_ascii=random.random() < 0.5)
    space = random.choice(("", " ", "\n", "  "))
    if kind < 0.75:
        return "[" + space + ("," + space).join(some_json(depth + 1) for _ in range(random.randrange(4))) + space + "]"
    return "{" + ("," + space).join(json.dumps(random.choice("abcé")) + space + ":" + space + some_json(depth + 1) for _ in range(random.randrange(4))) + "}"


jsons = SCALARS + [some_json() for _ in range(1500)]
values = []
for text in jsons:
    value = answer(json.loads, text)
    if value is None and text.strip() != "null":
        row("repr", text, None)
        continue
    row("repr", text, repr(value))
    row("truth", text, str(bool(value)))
    row("dumps", text, json.dumps(value))
    row("dumps kept", text, json.dumps(value, ensure_ascii=False))
    if isinstance(value, (int, float)):
        row("int", text, answer(lambda: str(int(value))))
        row("float", text, answer(lambda: repr(float(value))))
    values.append((text, value))
simple = [(text, value) for text, value in values if len(text) < 60]
pairs = [(a, b) for a in simple[:70] for b in simple[:70]]
pairs += [(random.choice(simple), random.choice(simple)) for _ in range(2000)]
pairs += [(a, (json.dumps(a[1]), json.loads(json.dumps(a[1])))) for a in simple]
for (left, one), (right, other) in pairs:
    row("equal", [left, right], str(one == other))
