"""Unusual values as pieces of YAML: mostly invalid numbers, texts, units, expressions and lists."""

SHORT = (
    "~ true 0 1 -1 3.5 [] {} [[]] [1,2] [null] [{}] fast on off yes no 010 0o10 0x1F 0x_ 1:30 1_000 1e3 "
    "2001-99-99 2001-01-01 ../../etc/passwd /dev/zero"
)

LINES = r"""
{a: 1}
{'': 1}
' '
[a, [b, {c: d}]]
{model: {a: 1}}
{protocol: [udp]}
!!int abc
!!int ""
!!bool maybe
!!timestamp x
!!binary aGVsbG8=
!!set {a}
!!float 3
!!null x
!x 1
!!python/object:os.system x
.nan
.inf
-.inf
1e999
1e-999
1e17
1e308
-9223372036854775809
4294967296
1e999999 Mbit/s
1e9999999999999999999999 bit/s
1e-999999 ms
0.1 ns
1 Tbit/s
864000 s
-1 ms
5 parsec
1 s s
1 %
101 %
10 mbit/s
3 packets
1 Mbit
unlimited
"\udcff"
"\0"
"\e]0;owned\a"
"a [/b]"
"[link=x]"
"\u202e"
"ü 漢字 🚀"
"a\nb"
'<script>'
'$(touch x)'
.
'{'
'{}'
'{id'
'{{a}}'
"'a'*9999999999"
"{'a'*9999999999}"
"'%c' % 99999999999"
min()
'min(50, share, n_hops)'
'round(1, 2)'
'1 +'
'1/0'
'().__class__'
'goodput_bps / 0 >= 1'
'goodput_bps * ''a'' >= 1'
'max() + goodput_bps >= 1'
'goodput_bps and 5 >= 1'
'goodput_bps >= 95 % of baseline'
{uniform: [1, 2]}
{uniform: [2, 1]}
{uniform: 1}
{uniform: [.nan, 1]}
{uniform: [1 ms, 2 s]}
{normal: {mean: 1, sd: 1e-300}}
{normal: {mean: 5, sd: 1, min: 1, max: 9}}
{log_uniform: [0, 1]}
{lognormal: {median: 1, sigma: 2}}
{exponential: {mean: 0}}
{weibull: {scale: 1, shape: 1e9}}
{pareto: {scale: 1, shape: 1.2, max: 0}}
{triangular: [1, 2]}
{empirical: none.csv}
{empirical: [[1, 0.5], [2, 1]]}
{choice: []}
{choice: [1, unlimited]}
{integers: [0, 1e18]}
{integers: [1, 64]}
&x [*x]
&x {<<: *x}
*none
{<<: 5}
{<<: [{a: 1}, {b: 2}]}
'<<'
"""

_BOMB = ", ".join(
    f"a{k}: &a{k} [{', '.join(['x' if k == 0 else f'*a{k - 1}'] * 10)}]" for k in range(8)
)  # 10^8 values in 600 characters

LONG = (
    "9" * 150, "9" * 199, "9" * 5000, "x" * 5000, "'" + "9" * 5000 + " ms'", "1 " + "a" * 20_000,
    "'1 a" + " " * 40_000 + "b'", "'goodput_bps >= 1 a" + " " * 40_000 + "\n\nb'", "'" + "-" * 5000 + "1'",
    "'" + "-" * 900 + "1'", "'" + "1+" * 20_000 + "1'", "'" + "(" * 300 + ")" * 300 + "'",
    "'" + "1 if 1 else " * 70 + "1'", "'{" + "9" * 190 + " * " + "9" * 190 + "}'", "[" * 60 + "]" * 60,
    "[" * 3000, "[" * 3000 + "]" * 3000, "{a: " * 150 + "1" + "}" * 150, "{" + _BOMB + "}",
)  # fmt: skip

VALUES = (*SHORT.split(), *LINES.strip().split("\n"), *LONG)
UNITS = (" ms", " s", " Mbit/s", " B", " m", " packets", "", " %", " kbit", " W")
KEYS = ("5", "on", "null", "[a]", '"*"', '"0"', "name", "x" * 300, r'"\e[1m"')
LETTERS = [
    "\t",
    "\x07",
    "\ufeff",
    "-",
    ":",
    "#",
    "&",
    "*",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    "|",
    "%",
    "ü",
    "\u2028",
    "<<",
    "&a",
    "*a",
]
