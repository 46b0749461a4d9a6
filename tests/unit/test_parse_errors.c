/// test_parse_errors.c - wrong programs: one message for each fault, at its place, and no more.
#include "front_run.h"
#include <string.h>

typedef struct {
    const char *name, *source, *want;
} ErrorCase;

#define EQUAL_SIGN \
    "'=' assigns and cannot stand inside an expression [syntax]\nhelp: write '==' to compare\n"
#define FOREIGN     " is not part of the language [not-in-language]\n"
#define IN_FUNCTION " inside a function is not part of the language [not-in-language]\n"

static const ErrorCase error_cases[] = {
    // what was expected
    { "missing_operand", "x = 1 +\n",
      "1:8: unexpected end of line, expected an expression [syntax]\n" },
    { "missing_operator", "x y\n", "1:3: unexpected name 'y', expected end of line [syntax]\n" },
    { "missing_comma", "f(a b)\n", "1:5: unexpected name 'b', expected ')' or ',' [syntax]\n" },
    { "missing_comma_in_list", "[1 2]\n",
      "1:4: unexpected number '2', expected ']' or ',' [syntax]\n" },
    { "missing_argument", "f(a,, b)\n",
      "1:5: unexpected ',', expected an expression or ')' [syntax]\n" },
    { "missing_in", "for x range(3):\n  pass\n",
      "1:7: unexpected name 'range', expected 'in' or ',' [syntax]\n" },
    { "missing_else_value", "x = 1 if y\n",
      "1:11: unexpected end of line, expected 'else' [syntax]\n" },
    { "missing_parameters", "def f:\n  pass\n", "1:6: unexpected ':', expected '(' [syntax]\n" },
    { "missing_import_name", "from x import\n",
      "1:14: unexpected end of line, expected a name or '(' [syntax]\n" },
    { "keyword_as_name", "x.in = 3\n", "1:3: 'in' is a keyword and cannot be a name [syntax]\n" },
    { "keyword_as_parameter", "def f(is): pass\n",
      "1:7: 'is' is a keyword and cannot be a name [syntax]\n" },
    { "decorator_without_function", "@a\nx = 1\n",
      "2:1: unexpected name 'x', expected 'def' [syntax]\n" },
    { "decorator_at_end_of_block", "if a:\n  @b\nc\n",
      "3:1: unexpected end of block, expected 'def' [syntax]\n" },
    { "decorator_at_end_of_file", "@a\n",
      "1:3: unexpected end of file, expected 'def' [syntax]\n" },
    { "two_equal_signs_too_many", "a === b\n",
      "1:5: unexpected '=', expected an expression [syntax]\n" },
    { "empty_field", "f'{}'\n", "1:4: unexpected '}', expected an expression [syntax]\n" },
    { "unknown_conversion", "f'{a!z}'\n",
      "1:6: unknown conversion '!z', expected '!r', '!s' or '!a' [syntax]\n" },

    // colons and blocks
    { "if_without_colon", "if x\n  y\nz\n",
      "1:5: expected ':' at the end of this line [syntax]\n" },
    { "def_without_colon", "def f(x)\n  y\n",
      "1:9: expected ':' at the end of this line [syntax]\n" },
    { "else_without_colon", "if x:\n  y\nelse\n  z\n",
      "3:5: expected ':' at the end of this line [syntax]\n" },
    { "no_colon_and_no_block", "while x\ny\n",
      "1:8: expected ':' at the end of this line [syntax]\n" },
    { "no_block", "if x:\ny\n", "1:5: expected an indented block after this ':' [syntax]\n" },
    { "no_block_at_end_of_file", "def f():\n",
      "1:8: expected an indented block after this ':' [syntax]\n" },
    { "bad_header_keeps_its_block", "if a b:\n  c\n  d\nelse:\n  e\nf\n",
      "1:6: unexpected name 'b', expected ':' [syntax]\n" },
    { "bad_elif_keeps_its_block", "if a:\n  b\nelif c d:\n  e\nelse:\n  f\n",
      "3:8: unexpected name 'd', expected ':' [syntax]\n" },
    { "else_if", "if a:\n  b\nelse if c:\n  d\nelse:\n  e\n",
      "3:1: 'else if' is not a keyword [syntax]\nhelp: write 'elif'\n" },
    { "else_without_if", "else:\n  a\nb\n",
      "1:1: 'else' has no 'if', 'for' or 'while' before it at this indentation [syntax]\n" },
    { "elif_without_if", "a\nelif b:\n  c\n",
      "2:1: 'elif' has no 'if' before it at this indentation [syntax]\n" },
    { "line_matches_no_block", "if a:\n    b\n  c\n",
      "3:1: this line matches no enclosing block [bad-indent]\n" },
    { "indented_for_no_reason", "a\n  b\n  c\nd\n",
      "2:1: unexpected indentation: the line above opens no block [bad-indent]\n" },

    // brackets
    { "call_not_closed", "x = f(a, b\ny = 3\nz = 4\n",
      "1:6: '(' was never closed [syntax]\n2:1: note: this looks like the next statement\n" },
    { "call_not_closed_before_for", "def f():\n  x = g(a, b\n  for i in c:\n    d\n  return x\n",
      "2:8: '(' was never closed [syntax]\n3:3: note: this looks like the next statement\n" },
    { "call_not_closed_before_return", "def f():\n  x = g(a,\n    b\n  return x\n",
      "2:8: '(' was never closed [syntax]\n4:3: note: this looks like the next statement\n" },
    { "list_not_closed_at_end_of_file", "x = [1,\n2\n", "1:5: '[' was never closed [syntax]\n" },
    { "parameters_not_closed", "def f(a, b:\n  c\nd\n", "1:6: '(' was never closed [syntax]\n" },
    { "error_inside_brackets_over_lines", "x = f(a,\n  b c,\n  d)\ny = 1 2\n",
      "2:5: unexpected name 'c', expected ')' or ',' [syntax]\n"
      "4:7: unexpected number '2', expected end of line [syntax]\n" },
    { "error_and_open_bracket", "x = f(a b, (c\ny = 1 2\n",
      "1:9: unexpected name 'b', expected ')' or ',' [syntax]\n"
      "2:7: unexpected number '2', expected end of line [syntax]\n" },

    // slips
    { "equal_sign_in_if", "if x = 3:\n  pass\n", "1:6: " EQUAL_SIGN },
    { "equal_sign_in_while", "while x = 3 and y:\n  pass\n", "1:9: " EQUAL_SIGN },
    { "equal_sign_in_parentheses", "y = (a = 3)\n", "1:8: " EQUAL_SIGN },
    { "print_statement", "print 'x'\nprint y\n",
      "1:7: 'print' is not a statement [syntax]\nhelp: write 'device_print(\"text\", value)'\n"
      "2:7: 'print' is not a statement [syntax]\nhelp: write 'device_print(\"text\", value)'\n" },
    { "c_operators_once", "if a && !b:\n  c\n",
      "1:6: '&&' is not an operator [syntax]\nhelp: write 'and'\n"
      "1:9: '!' is not an operator [syntax]\nhelp: write 'not'\n" },
    { "string_not_ended_in_call", "f('abc)\ng(1 2)\n",
      "1:3: this string does not end on its line [syntax]\n"
      "2:5: unexpected number '2', expected ')' or ',' [syntax]\n" },
    { "strange_byte_once", "\xFF\nx = 1 1\n",
      "1:1: byte 0xff is not UTF-8 [syntax]\n"
      "2:7: unexpected number '1', expected end of line [syntax]\n" },

    // several faults
    { "four_faults_four_messages",
      "def f(a)\n    b = a +\n    c = g(a\n    if b = c:\n        return c\n",
      "1:9: expected ':' at the end of this line [syntax]\n"
      "2:12: unexpected end of line, expected an expression [syntax]\n"
      "3:10: '(' was never closed [syntax]\n4:5: note: this looks like the next statement\n"
      "4:10: " EQUAL_SIGN },
    { "faults_in_order", "x = 1 1\nif a b:\n  y = (2\n  z = ]\nelse c:\n  w = 3 3\nv = $\n",
      "1:7: unexpected number '1', expected end of line [syntax]\n"
      "2:6: unexpected name 'b', expected ':' [syntax]\n"
      "3:7: '(' was never closed [syntax]\n4:3: note: this looks like the next statement\n"
      "4:7: unmatched ']' [syntax]\n"
      "5:6: unexpected name 'c', expected ':' [syntax]\n"
      "6:9: unexpected number '3', expected end of line [syntax]\n"
      "7:5: unexpected character '$' [syntax]\n" },
    { "checks_are_in_order_too", "def f():\n  a = lambda: b\n  c d\nbreak\n",
      "2:7: 'lambda'" IN_FUNCTION "help: define a function with 'def' and use its name\n"
      "3:5: unexpected name 'd', expected end of line [syntax]\n"
      "4:1: 'break' outside a loop [syntax]\n" },

    // targets, parameters, arguments
    { "assign_to_literal", "1 = x\n", "1:1: cannot assign to a literal [syntax]\n" },
    { "assign_to_call", "f() = x\n", "1:1: cannot assign to the result of a call [syntax]\n" },
    { "assign_to_comparison", "a == b = c\n", "1:1: cannot assign to a comparison [syntax]\n" },
    { "assign_to_none_in_tuple", "a, None = b\n", "1:4: cannot assign to 'None' [syntax]\n" },
    { "update_expression", "a + b += 1\n", "1:1: cannot assign to an expression [syntax]\n" },
    { "update_tuple", "a, b += 1\n", "1:1: only one name at a time can be updated [syntax]\n" },
    { "annotate_tuple", "a, b: c = d\n",
      "1:1: only one name at a time can be annotated [syntax]\n" },
    { "loop_over_call", "for f() in a: pass\n",
      "1:5: cannot assign to the result of a call [syntax]\n" },
    { "parameter_twice", "def f(a, a): pass\n", "1:10: parameter 'a' appears twice [syntax]\n" },
    { "default_then_none", "def f(a=1, b, *, c): pass\n",
      "1:12: parameter 'b' needs a default, since 'a' before it has one [syntax]\n" },
    { "argument_twice", "f(a=1, a=2)\n", "1:8: argument 'a' is given twice [syntax]\n" },
    { "positional_after_named", "f(a=1, b)\n",
      "1:8: an argument without a name cannot follow one with a name [syntax]\n" },
    { "argument_name_is_no_name", "f(a.b=1)\n",
      "1:3: the name of an argument must be a plain name [syntax]\nhelp: write '==' to compare\n" },
    { "generator_among_arguments", "f(a for a in b, c)\n",
      "1:3: a generator among other arguments needs parentheses [syntax]\n" },
    { "bytes_and_text", "x = b'a' 'b'\n",
      "1:5: bytes and text literals cannot be joined [syntax]\n" },

    // places
    { "break_outside_loop", "break\nfor i in a: pass\nelse: continue\n",
      "1:1: 'break' outside a loop [syntax]\n3:7: 'continue' outside a loop [syntax]\n" },
    { "return_outside_function", "return 1\n", "1:1: 'return' outside a function [syntax]\n" },

    // Python that is not newt
    { "try", "try:\n  a\nexcept B as c:\n  d\nelse:\n  e\nfinally:\n  f\ng\n",
      "1:1: 'try'" FOREIGN },
    { "with", "with a as b:\n  c\nd\n", "1:1: 'with'" FOREIGN },
    { "class", "@a\nclass B(C):\n  def d(self): pass\n", "2:1: 'class'" FOREIGN },
    { "async", "async def f():\n  a\n", "1:1: 'async'" FOREIGN },
    { "del_global_nonlocal_raise", "del a\nglobal b, c\nif d: raise e\nnonlocal f\n",
      "1:1: 'del'" FOREIGN "2:1: 'global'" FOREIGN "3:7: 'raise'" FOREIGN
      "4:1: 'nonlocal'" FOREIGN },
    { "yield_await_walrus", "def f():\n  x = yield a\n  yield\n  await b\n  g(c := 1)\n",
      "2:7: 'yield'" FOREIGN "3:3: 'yield'" FOREIGN "4:3: 'await'" FOREIGN "5:7: ':='" FOREIGN },
    { "sets", "{1, 2}\n{a for a in b}\n{a: b for a in c}\n",
      "1:1: a set" FOREIGN "2:1: a set comprehension" FOREIGN "3:1: a dict comprehension" FOREIGN },
    { "two_loops_in_comprehension", "[a for b in c for d in e]\n",
      "1:4: a second 'for' in a comprehension" FOREIGN },
    { "double_star", "f(**a)\ndef g(*b, **c): pass\n",
      "1:3: a '**' argument" FOREIGN "help: write the arguments out as 'name=value'\n"
      "2:7: a '*' parameter" FOREIGN "help: give every parameter a name\n"
      "2:11: a '**' parameter" FOREIGN "help: give every parameter a name\n" },
    { "starred_target", "*a, b = c\n", "1:1: a starred target" FOREIGN },
    { "inside_a_function", "def f():\n  def g(): pass\n  import a\n  b = lambda: c\n  d({1: 2})\n",
      "2:7: a function" IN_FUNCTION "help: move it to the top level of the file\n"
      "3:3: 'import'" IN_FUNCTION "help: move it to the top of the file\n"
      "4:7: 'lambda'" IN_FUNCTION "help: define a function with 'def' and use its name\n"
      "5:5: a dict" IN_FUNCTION },
    { "lambda_and_dict_outside_are_fine",
      "@a(b=lambda c: c, d={1: 2})\ndef f(): pass\ng = lambda: 1\n", "" },
};

static void check_errors(void **state)
{
    const ErrorCase *c = *state;
    FrontRun r;

    front_begin(&r, c->source, strlen(c->source));
    AstModule *m = parse_file(&r.arena, &r.syms, &r.sources, r.file, &r.diags);
    ast_dump(&m->base, &r.out);
    assert_string_equal(front_messages(&r), c->want);
    front_end(&r);
}

int main(void)
{
    return FRONT_RUN_CASES("parse_errors", error_cases, check_errors);
}
