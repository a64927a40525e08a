"""Mutants of C++ sources: small faults, each a replacement of a few characters of one file.

Operators work on the text as clang-format leaves it (binary operators have a space on either side,
brackets of templates have none), with comments, strings and preprocessor lines blanked out. A mutant
that does not compile is nobody's fault and counts nowhere, so operators need not know types.
"""
import re
from typing import Iterator, NamedTuple

CODE_THAT_IS_NOT_TO_BE_CHANGED = re.compile(
    r'//[^\n]*|/\*.*?\*/'                       # comments
    r'|R"([^()\s\\]{0,16})\(.*?\)\1"'           # raw strings
    r'|"(?:\\.|[^"\\\n])*"'                     # strings
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])*'"    # characters, but no digits' separators
    r'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',          # the preprocessor's lines
    re.DOTALL | re.MULTILINE)


class Mutant(NamedTuple):
    """One fault: `text[begin:end]` becomes `replacement`."""
    kind: str
    begin: int
    end: int
    replacement: str

    def apply(self, text: str) -> str:
        return text[:self.begin] + self.replacement + text[self.end:]

    def line(self, text: str) -> int:
        return text.count('\n', 0, self.begin) + 1


def blank_out(text: str) -> str:
    """The text with everything but code as spaces, so that places stay what they are."""
    return CODE_THAT_IS_NOT_TO_BE_CHANGED.sub(
        lambda match: re.sub(r'[^\n]', ' ', match.group()), text)


COMPARISONS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}


def comparisons(code: str) -> Iterator[Mutant]:
    """A comparison that takes its limit in, leaves it out, or says the opposite."""
    for match in re.finditer(r'(?<=[^\s,(] )(<=|>=|==|!=|<|>)(?= )', code):
        before = code[:match.start()].rstrip()
        if not before.endswith(('template', 'operator')):
            yield Mutant('comparison', *match.span(), COMPARISONS[match.group()])


def connectives(code: str) -> Iterator[Mutant]:
    """`and` for `or`, and the reverse."""
    for match in re.finditer(r'(?<=\S )(&&|\|\|)(?=\s)', code):
        yield Mutant('connective', *match.span(), '||' if match.group() == '&&' else '&&')


def off_by_one(code: str) -> Iterator[Mutant]:
    """A count one too large, and a step of one that is left out."""
    for match in re.finditer(r' [+-] 1(?=[\s;,)\]])', code):
        yield Mutant('off by one', *match.span(), '')
    for match in re.finditer(r'(?<=[(\[ ])(0|[1-9][0-9]{0,5})u?(?=[);,\]]| [<>=&|?:+*/-])', code):
        if not re.search(r'[+-] $', code[max(0, match.start() - 2):match.start()]):
            yield Mutant('off by one', *match.span(), str(int(match.group(1)) + 1))


def arithmetic(code: str) -> Iterator[Mutant]:
    """A sum for a difference, and the reverse."""
    for match in re.finditer(r'(?<=[\w)\]] )([+-])(?= [\w(])', code):
        yield Mutant('arithmetic', *match.span(), '-' if match.group() == '+' else '+')


def extremes(code: str) -> Iterator[Mutant]:
    """The smaller for the larger, and the reverse."""
    for match in re.finditer(r'\bstd::(min|max)(?=[(<])', code):
        yield Mutant('extreme', *match.span(1), 'max' if match.group(1) == 'min' else 'min')


def truth_values(code: str) -> Iterator[Mutant]:
    """False for true, and the reverse."""
    for match in re.finditer(r'\b(true|false)\b(?=[;,)])', code):
        yield Mutant('truth value', *match.span(), 'false' if match.group() == 'true' else 'true')


def _closing(code: str, opening: int) -> int:
    """The place of the bracket that closes the one at `opening`; -1 if there is none."""
    depth = 0
    for place in range(opening, len(code)):
        depth += {'(': 1, ')': -1}.get(code[place], 0)
        if depth == 0:
            return place
    return -1


def branches(code: str, text: str) -> Iterator[Mutant]:
    """A branch that is never taken. Its condition, with what is quoted there, is taken from `text`."""
    for match in re.finditer(r'\bif \(', code):
        opening = match.end() - 1
        closing = _closing(code, opening)
        begin = opening + 1
        if ';' in code[begin:closing]:
            begin = code.rindex(';', begin, closing) + 1
        condition = text[begin:closing].strip()
        if closing > 0 and not re.match(r'(const|auto)\b', condition):
            space = ' ' if code[begin - 1] == ';' else ''
            yield Mutant('branch', begin, closing, f'{space}false && ({condition})')


def statements(code: str) -> Iterator[Mutant]:
    """A call or an assignment that does not happen."""
    call = re.compile(r'^ +((?!return\b|throw\b|static_assert\b)[A-Za-z_][\w:.>\[\]-]*\([^;{}\n]*\));$',
                      re.MULTILINE)
    assignment = re.compile(r'^ +([A-Za-z_][\w.>\[\]-]* [+|-]?= [^;{}\n]*);$', re.MULTILINE)
    for pattern in (call, assignment):
        for match in pattern.finditer(code):
            if match.group(1).count('(') == match.group(1).count(')'):
                yield Mutant('statement', *match.span(1), '')


def arguments(code: str) -> Iterator[Mutant]:
    """Two neighbouring arguments, each a plain name, the wrong way round."""
    name = r'[A-Za-z_][\w.]*'
    for match in re.finditer(rf'(?<=[(,])( ?)({name}), ({name})(?=[,)])', code):
        one, other = match.group(2), match.group(3)
        if one != other:
            yield Mutant('arguments', *match.span(), f'{match.group(1)}{other}, {one}')


OPERATORS = (comparisons, connectives, off_by_one, arithmetic, extremes, truth_values, statements,
             arguments)


# What no test can notice, since answers do not depend on it: memory taken ahead, and what says so
# itself, with its reason: `if (run == 1) {  // Speed only: a copy whose size the compiler knows.`
ONLY_SPEED = re.compile(r'//\s*Speed only: \S|[.>](reserve|shrink_to_fit)\(|\b__builtin_prefetch\(')
DECLARATION = re.compile(r'\b(constexpr|static_assert|template|using|enum|namespace)\b')


def mutants_of(text: str) -> list[Mutant]:
    """Every mutant of a source, in the order of the text; none in declarations of constants, nor in
    lines that change nothing but the speed."""
    code = blank_out(text)
    found = [mutant for operator in OPERATORS for mutant in operator(code)]
    found += branches(code, text)

    def is_left_out(mutant: Mutant) -> bool:
        begin = text.rfind('\n', 0, mutant.begin) + 1
        end = text.find('\n', mutant.begin)
        line = text[begin:end]
        return DECLARATION.search(line) is not None or ONLY_SPEED.search(line) is not None

    return sorted(mutant for mutant in found if not is_left_out(mutant))
