# SPDX-License-Identifier: Apache-2.0
"""Small faults to plant in a C file: which there are, and which are drawn.

A fault lies within one function and keeps the number of lines.  Which faults
are drawn depends on the seed and on the functions themselves, not on what
surrounds them, so that most of a sample stays the same while the tree changes.
"""
import hashlib
import re

TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/|//[^\n]*)"
    r'|(?P<text>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')'
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)"
    r"|(?P<mark><<=|>>=|\.\.\.|->|\+\+|--|[-+*/%&|^<>=!]=|<<|>>|&&|\|\||[^\s\w])",
    re.S)
PREPROCESSOR = re.compile(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*")
SWAPS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=",
         "<": "<=", "<=": "<", ">": ">=", ">=": ">",
         "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
CONSTANTS = {"0": "1", "1": "0"}
# Statements that begin with one of these are not left out.
KEYWORDS = {"if", "else", "for", "while", "do", "switch", "case", "default",
            "return", "goto", "break", "continue", "struct", "enum", "union",
            "const", "static", "extern", "unsigned", "int", "char", "double",
            "float", "size_t", "void", "volatile", "typedef", "assert"}
# A sign behind one of these has one side only.
BEFORE_SIGN = {"return", "case", "sizeof"}
CLOSES = {"(": ")", "{": "}", "[": "]"}


class Token:
    def __init__(self, kind, text, at):
        self.kind, self.text, self.at = kind, text, at
        self.end = at + len(text)
        self.is_inside = False  # of parentheses, such as those of a loop


class Function:
    def __init__(self, name, is_void, body):
        self.name, self.is_void, self.body = name, is_void, body
        depth = 0
        for token in body:
            depth += (token.text == "(") - (token.text == ")")
            token.is_inside = depth > 0


class Mutant:
    """text[at:end] of a file becomes 'new'."""

    def __init__(self, function, what, at, end, new):
        self.function, self.what = function, what
        self.at, self.end, self.new = at, end, new
        self.path = self.line = self.id = None

    def apply(self, text):
        lost = (text.count("\n", self.at, self.end) - self.new.count("\n"))
        return text[:self.at] + self.new + "\n" * lost + text[self.end:]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what} in {self.function}()"


def tokens_of(text):
    code = PREPROCESSOR.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    return [Token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(code)
            if m.lastgroup != "comment"]


def closing(tokens, i):
    """Index of the bracket that closes the one at i."""
    opens, closes, depth = tokens[i].text, CLOSES[tokens[i].text], 0
    for k in range(i, len(tokens)):
        depth += (tokens[k].text == opens) - (tokens[k].text == closes)
        if depth == 0:
            return k
    return len(tokens) - 1


def opening(tokens, i):
    """Index of the parenthesis that is closed at i."""
    depth = 0
    for k in range(i, -1, -1):
        depth += (tokens[k].text == ")") - (tokens[k].text == "(")
        if depth == 0:
            return k
    return 0


def functions_of(text):
    tokens, i, begin = tokens_of(text), 0, 0
    while i < len(tokens):
        if tokens[i].text == "{":
            end = closing(tokens, i)
            if i and tokens[i - 1].text == ")":
                name = opening(tokens, i - 1) - 1
                kind = [t.text for t in tokens[begin:name]]
                yield Function(tokens[name].text,
                               "void" in kind and "*" not in kind,
                               tokens[i:end + 1])
            begin, i = end + 1, end
        elif tokens[i].text == ";":
            begin = i + 1
        i += 1


def asserted(body):
    """Indices of tokens within assert(): these state, they do not act."""
    found = set()
    for i, token in enumerate(body):
        if token.text in ("assert", "_Static_assert"):
            found.update(range(i, closing(body, i + 1) + 1))
    return found


def is_binary(body, i):
    before = body[i - 1]
    return (before.kind == "number" or before.text in (")", "]")
            or (before.kind == "name" and before.text not in BEFORE_SIGN))


def statement_end(body, i):
    """Index of the ';' of an assignment or call that begins at i, or None."""
    if (body[i].kind != "name" or body[i].text in KEYWORDS
            or body[i - 1].text not in ("{", "}", ";") or body[i].is_inside
            or body[i + 1].kind == "name" or body[i + 1].text == ":"):
        return None
    depth = 0
    for k in range(i, len(body)):
        depth += (body[k].text in CLOSES) - (body[k].text in CLOSES.values())
        if depth < 0:
            return None
        if body[k].text == ";" and depth == 0:
            return k
    return None


def faults_at(text, body, i):
    """The mutants of one token: what, from, to, new."""
    token = body[i]
    if token.text in SWAPS and token.kind == "mark" and (
            token.text not in "+-" or is_binary(body, i)):
        new = SWAPS[token.text]
        yield f"'{token.text}' becomes '{new}'", token.at, token.end, new
    if token.text in CONSTANTS and token.kind == "number":
        new = CONSTANTS[token.text]
        yield f"{token.text} becomes {new}", token.at, token.end, new
    if token.text == "if":
        at, end = body[i + 1].at, body[closing(body, i + 1)].end
        yield "a condition is negated", at, end, f"(!{text[at:end]})"
    end = statement_end(body, i)
    if end is not None:
        words = " ".join(text[token.at:body[end].at].split())
        yield f"'{words}' is left out", token.at, body[end].at, ""


def mutants_of(path, text):
    """All mutants of a file, in the order of its text."""
    for function in functions_of(text):
        body, without = function.body, asserted(function.body)
        at = body[0].end
        found = [("it returns at once", at, at,
                  " return;" if function.is_void else " return 0;")]
        for i in range(1, len(body) - 1):
            if i not in without:
                found.extend(faults_at(text, body, i))
        n_like = {}
        for fault in found:
            mutant = Mutant(function.name, *fault)
            nth = n_like[mutant.what] = n_like.get(mutant.what, 0) + 1
            mutant.path = path
            mutant.line = text.count("\n", 0, mutant.at) + 1
            mutant.id = f"{path}:{mutant.function}:{mutant.what}:{nth}"
            yield mutant


def drawn(mutants, seed):
    """Lists of the mutants of one function each, all in the order of the
    draw: the first of a list that compiles to something else stands for it."""
    def place(text):
        return hashlib.sha256(f"{seed}:{text}".encode()).digest()

    functions = {}
    for mutant in mutants:
        where = f"{mutant.path}:{mutant.function}"
        functions.setdefault(where, []).append(mutant)
    return [sorted(functions[where], key=lambda mutant: place(mutant.id))
            for where in sorted(functions, key=place)]
