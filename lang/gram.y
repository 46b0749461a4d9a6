/* gram.y - the grammar, for Bison: syntax only; actions call constructors of compiler/front.
 *
 * A subset of Python 3 with Python's precedences, written out in layers so that comparison chains
 * and `**` come out right. Recovery is at the next line, and a header that is wrong keeps its
 * block. Rules that end in a `parse_slip_*` call accept what people write by mistake, report it
 * and go on. A `foreign` rule accepts Python that newt leaves out and reports it once. */
%require "3.8"
%language "c"
%define api.pure full
%define api.prefix {gram_}
%define api.token.prefix {TOK_}
%define api.location.type {Span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {Parser *p}

%code requires {
#include "front/parse_impl.h"
}

%code {
#define GRAM_STYPE_IS_TRIVIAL 1
#define GRAM_LTYPE_IS_TRIVIAL 1
#define YYLTYPE_IS_TRIVIAL    1
#define YYSTYPE_IS_TRIVIAL    1
#define YYMAXDEPTH            20000
#define YYLLOC_DEFAULT(out, in, n) \
    ((out) = (n) ? span_join(YYRHSLOC(in, 1), YYRHSLOC(in, n)) \
                 : (Span){ YYRHSLOC(in, 0).hi, YYRHSLOC(in, 0).hi })
#define N(KIND, Struct, span, ...) PARSE_NODE(p, KIND, Struct, span, __VA_ARGS__)
#define BINARY(OP, span, a, at, b) N(BINARY, Binary, span, .op = AST_##OP, .op_span = (at), .lhs = (a), .rhs = (b))
#define UNARY(OP, span, at, a)     N(UNARY, Unary, span, .op = AST_##OP, .op_span = (at), .operand = (a))
#define ONE(node)                  parse_list_add(p, (AstNodes){ 0 }, node)

static int yylex(GRAM_STYPE *value, Span *span, Parser *p)
{
    return parse_next_token(p, &value->lex, span);
}

static void yyerror(const Span *span, Parser *p, const char *text)
{
    (void)text;  // Bison calls this for one reason only: its stack is full
    parse_too_deep(p, *span);
}
}

%union {
    LexValue lex;
    Sym name;
    AstNode *node;
    AstNodes list;
    AstBinaryOp op;
    AstCompareOp compare;
    ParseDots dots;
    char conversion;
}

/* ORDER tokens.def */
%token NEWLINE INDENT DEDENT
%token <lex> NAME INT FLOAT STRING
%token FSTRING_START
%token <lex> FSTRING_MIDDLE
%token FSTRING_END
%token FALSE "False" NONE "None" TRUE "True" AND "and" AS "as" ASSERT "assert" ASYNC "async"
%token AWAIT "await" BREAK "break" CLASS "class" CONTINUE "continue" DEF "def" DEL "del"
%token ELIF "elif" ELSE "else" EXCEPT "except" FINALLY "finally" FOR "for" FROM "from"
%token GLOBAL "global" IF "if" IMPORT "import" IN "in" IS "is" LAMBDA "lambda"
%token NONLOCAL "nonlocal" NOT "not" OR "or" PASS "pass" RAISE "raise" RETURN "return"
%token TRY "try" WHILE "while" WITH "with" YIELD "yield"
%token LPAREN "(" LBRACKET "[" LBRACE "{" TILDE "~" ELLIPSIS "..."
%token RPAREN ")" RBRACKET "]" RBRACE "}" COMMA "," COLON ":" ARROW "->" ASSIGN "="
%token SEMICOLON ";" WALRUS ":=" BANG "!" SPEC "format" DOT "." PLUS "+" MINUS "-" STAR "*"
%token SLASH "/" SLASH2 "//" PERCENT "%" AT "@" STAR2 "**" SHL "<<" SHR ">>" AMP "&" BAR "|"
%token CARET "^" EQ "==" NE "!=" LT "<" LE "<=" GT ">" GE ">="
%token PLUS_ASSIGN "+=" MINUS_ASSIGN "-=" STAR_ASSIGN "*=" SLASH_ASSIGN "/="
%token SLASH2_ASSIGN "//=" PERCENT_ASSIGN "%=" AT_ASSIGN "@=" STAR2_ASSIGN "**="
%token SHL_ASSIGN "<<=" SHR_ASSIGN ">>=" AMP_ASSIGN "&=" BAR_ASSIGN "|=" CARET_ASSIGN "^="

%type <list> stmts stmt small_list block else_part loop_else decorators handlers
%type <list> aliases dotted_aliases dotted_names params param_list lambda_params lambda_param_list
%type <list> assign_chain exprs_tail tuple_items elements arguments argument_list subscripts
%type <list> dict_items strings fstring_parts comp_ifs loop_target_list
%type <node> small compound cond alias dotted_alias import param lambda_param returns
%type <node> exprs value foreign_value element named expr or_test and_test not_test comparison
%type <list> or_list and_list
%type <node> compare_chain bit_or bit_xor bit_and shift arith term factor power primary atom
%type <node> argument subscript slice_end optional_expr paren comp_for loop_target loop_targets
%type <node> string_piece field field_format
%type <op> aug_op
%type <compare> compare_op
%type <name> dotted
%type <dots> dots
%type <conversion> field_conversion

%%

file: %empty
    | stmts        { p->body = $1; }
    | error        { yyerrok; }
    | stmts error  { p->body = $1; yyerrok; }
    ;

/* statements */

stmts: stmt
    | stmts stmt   { $$ = parse_list_join(p, $1, $2); }
    ;
stmt: small_list NEWLINE                           { $$ = $1; @$ = @1; }
    | small_list ";" NEWLINE                       { $$ = $1; @$ = @1; }
    | compound                                     { $$ = ONE($1); }
    | error NEWLINE                                { $$ = ONE(parse_error_node(p, @1)); yyerrok; }
    | error NEWLINE INDENT stmts DEDENT else_part  { $$ = ONE(parse_error_node(p, @1)); yyerrok; }
    ;
block: ":" NEWLINE INDENT stmts DEDENT  { $$ = $4; @$ = @4; }
    | ":" NEWLINE INDENT stmts error DEDENT  { $$ = $4; @$ = @4; yyerrok; }
    | ":" NEWLINE INDENT error DEDENT   { $$ = ONE(parse_error_node(p, @4)); @$ = @4; yyerrok; }
    | ":" small_list NEWLINE            { $$ = $2; @$ = @2; }
    | ":" small_list ";" NEWLINE        { $$ = $2; @$ = @2; }
    | ":" NEWLINE                       { $$ = parse_slip_no_block(p, @1); @$ = @1; }
    | no_colon INDENT stmts DEDENT      { $$ = $3; @$ = @3; }
    | no_colon                          { $$ = ONE(parse_error_node(p, @1)); }
    ;
no_colon: NEWLINE                       { parse_slip_no_colon(p, @1); } ;
small_list: small         { $$ = ONE($1); }
    | small_list ";" small  { $$ = parse_list_add(p, $1, $3); }
    ;

small: exprs                 { $$ = N(EXPR_STMT, ExprStmt, @$, .value = $1); }
    | foreign_value          { $$ = N(EXPR_STMT, ExprStmt, @$, .value = $1); }
    | assign_chain           { $$ = parse_assign(p, @$, $1); }
    | exprs aug_op value     { $$ = parse_aug_assign(p, @$, $1, $2, $3); }
    | exprs ":" expr         { $$ = parse_ann_assign(p, @$, $1, $3, NULL); }
    | exprs ":" expr "=" value  { $$ = parse_ann_assign(p, @$, $1, $3, $5); }
    | "pass"                 { $$ = parse_leaf(p, AST_PASS, @$); }
    | "break"                { $$ = parse_leaf(p, AST_BREAK, @$); }
    | "continue"             { $$ = parse_leaf(p, AST_CONTINUE, @$); }
    | "return"               { $$ = N(RETURN, Return, @$, .value = NULL); }
    | "return" exprs         { $$ = N(RETURN, Return, @$, .value = $2); }
    | "assert" cond          { $$ = N(ASSERT, Assert, @$, .cond = $2); }
    | "assert" cond "," expr { $$ = N(ASSERT, Assert, @$, .cond = $2, .message = $4); }
    | import
    | foreign_word           { $$ = parse_error_node(p, @$); }
    ;
assign_chain: exprs "=" value     { $$ = parse_list_add(p, ONE($1), $3); }
    | assign_chain "=" value      { $$ = parse_list_add(p, $1, $3); }
    ;
value: exprs | foreign_value ;
aug_op: "+="  { $$ = AST_ADD; }        | "-="  { $$ = AST_SUB; }     | "*="  { $$ = AST_MUL; }
    | "/="    { $$ = AST_DIV; }        | "//=" { $$ = AST_FLOOR_DIV; } | "%=" { $$ = AST_MOD; }
    | "@="    { $$ = AST_MATMUL; }     | "**=" { $$ = AST_POW; }     | "<<=" { $$ = AST_SHL; }
    | ">>="   { $$ = AST_SHR; }        | "&="  { $$ = AST_BIT_AND; } | "|="  { $$ = AST_BIT_OR; }
    | "^="    { $$ = AST_BIT_XOR; }
    ;

import: "import" dotted_aliases              { $$ = N(IMPORT, Import, @$, .names = $2); }
    | "from" dots dotted "import" aliases    { $$ = parse_import_from(p, @$, $2.count, $3, $5); }
    | "from" dotted "import" aliases         { $$ = parse_import_from(p, @$, 0, $2, $4); }
    | "from" dots "import" aliases           { $$ = parse_import_from(p, @$, $2.count, NULL, $4); }
    | "from" dots dotted "import" "(" aliases paren_end  { $$ = parse_import_from(p, @$, $2.count, $3, $6); }
    | "from" dotted "import" "(" aliases paren_end       { $$ = parse_import_from(p, @$, 0, $2, $5); }
    | "from" dots "import" "(" aliases paren_end         { $$ = parse_import_from(p, @$, $2.count, NULL, $5); }
    ;
paren_end: ")" | "," ")" ;
dots: "."         { $$.count = 1; }
    | "..."       { $$.count = 3; }
    | dots "."    { $$.count = $1.count + 1; }
    | dots "..."  { $$.count = $1.count + 3; }
    ;
dotted: dotted_names      { $$ = parse_join_dotted(p, $1); } ;
dotted_names: NAME        { $$ = ONE(N(NAME, Name, @1, .name = $1.name)); }
    | dotted_names "." NAME { $$ = parse_list_add(p, $1, N(NAME, Name, @3, .name = $3.name)); }
    ;
dotted_aliases: dotted_alias               { $$ = ONE($1); }
    | dotted_aliases "," dotted_alias      { $$ = parse_list_add(p, $1, $3); }
    ;
dotted_alias: dotted      { $$ = N(ALIAS, Alias, @$, .name = $1); }
    | dotted "as" NAME    { $$ = N(ALIAS, Alias, @$, .name = $1, .as_name = $3.name); }
    ;
aliases: alias            { $$ = ONE($1); }
    | aliases "," alias   { $$ = parse_list_add(p, $1, $3); }
    ;
alias: NAME               { $$ = N(ALIAS, Alias, @$, .name = $1.name); }
    | NAME "as" NAME      { $$ = N(ALIAS, Alias, @$, .name = $1.name, .as_name = $3.name); }
    | "*"                 { $$ = N(ALIAS, Alias, @$, .name = sym_of(p->syms, "*")); }
    ;

compound: "if" cond block else_part    { $$ = N(IF, If, @$, .cond = $2, .body = $3, .orelse = $4); }
    | "for" loop_targets "in" exprs block loop_else
                                       { $$ = parse_for(p, @$, $2, $4, $5, $6); }
    | "while" cond block loop_else     { $$ = N(WHILE, While, @$, .cond = $2, .body = $3, .orelse = $4); }
    | decorators "def" NAME "(" params ")" returns block
                                       { @$ = span_join($1.len ? @1 : @2, @8);
                                         $$ = parse_function(p, @$, @3, &(AstFunction){ .name = $3.name,
                                              .decorators = $1, .params = $5, .returns = $7, .body = $8 }); }
    | decorators foreign_definition foreign_end  { $$ = parse_error_node(p, @$); }
    | foreign_block foreign_end        { $$ = parse_error_node(p, @$); }
    | foreign_try foreign_end handlers { $$ = parse_error_node(p, @$); }
    ;
cond: named
    | named "=" expr  { $$ = parse_slip_equal(p, @2, $1, $3); }
    ;
else_part: %empty                      { $$ = (AstNodes){ 0 }; }
    | "else" block                     { $$ = $2; }
    | "elif" cond block else_part      { $$ = ONE(N(IF, If, @$, .cond = $2, .body = $3, .orelse = $4)); }
    | else_if cond block else_part     { $$ = ONE(N(IF, If, @$, .cond = $2, .body = $3, .orelse = $4)); }
    ;
else_if: "else" "if"                   { parse_slip_else_if(p, @$); } ;
loop_else: %empty                      { $$ = (AstNodes){ 0 }; }
    | "else" block                     { $$ = $2; }
    ;
decorators: %empty                     { $$ = (AstNodes){ 0 }; }
    | decorators "@" named NEWLINE     { $$ = parse_list_add(p, $1, $3); }
    ;
returns: %empty                        { $$ = NULL; }
    | "->" expr                        { $$ = $2; }
    ;
params: %empty                         { $$ = (AstNodes){ 0 }; }
    | param_list                       { $$ = parse_params(p, $1); }
    | param_list ","                   { $$ = parse_params(p, $1); }
    ;
param_list: param                      { $$ = ONE($1); }
    | param_list "," param             { $$ = parse_list_add(p, $1, $3); }
    ;
param: NAME                            { $$ = N(PARAM, Param, @$, .name = $1.name); }
    | NAME "=" expr                    { $$ = N(PARAM, Param, @$, .name = $1.name, .default_value = $3); }
    | NAME ":" expr                    { $$ = N(PARAM, Param, @$, .name = $1.name, .annotation = $3); }
    | NAME ":" expr "=" expr           { $$ = N(PARAM, Param, @$, .name = $1.name, .annotation = $3, .default_value = $5); }
    | "*"                              { $$ = N(STARRED, Starred, @$, .value = NULL); }
    | "/"                              { $$ = NULL; }
    | "*" NAME                         { $$ = parse_foreign_param(p, @$, "*"); }
    | "*" NAME ":" expr                { $$ = parse_foreign_param(p, @$, "*"); }
    | "**" NAME                        { $$ = parse_foreign_param(p, @$, "**"); }
    | "**" NAME ":" expr               { $$ = parse_foreign_param(p, @$, "**"); }
    ;

/* Python that newt leaves out: parse_next_token has skipped the rest of the line */

foreign_word: "del" { parse_foreign(p, @1, "del"); }  | "global"   { parse_foreign(p, @1, "global"); }
    | "raise"       { parse_foreign(p, @1, "raise"); } | "nonlocal" { parse_foreign(p, @1, "nonlocal"); }
    ;
foreign_block: "with" { parse_foreign(p, @1, "with"); } ;
foreign_definition: "class" { parse_foreign(p, @1, "class"); } | "async" { parse_foreign(p, @1, "async"); } ;
foreign_try: "try"   { parse_foreign(p, @1, "try"); } ;
foreign_end: NEWLINE | NEWLINE INDENT stmts DEDENT ;
handlers: %empty                       { $$ = (AstNodes){ 0 }; }
    | handlers "except" foreign_end
    | handlers "finally" foreign_end
    | handlers "else" block
    ;
foreign_value: "yield"                 { $$ = parse_foreign(p, @1, "yield"); }
    | "yield" exprs                    { $$ = parse_foreign(p, @1, "yield"); }
    | "yield" "from" expr              { $$ = parse_foreign(p, @1, "yield"); }
    ;

/* expressions, from the loosest to the tightest */

exprs: element
    | exprs_tail                       { $$ = N(TUPLE, Tuple, @$, .items = $1); }
    ;
exprs_tail: tuple_items ;
tuple_items: element ","               { $$ = ONE($1); }
    | element "," elements             { $$ = parse_list_join(p, ONE($1), $3); }
    | element "," elements ","         { $$ = parse_list_join(p, ONE($1), $3); }
    ;
elements: element                      { $$ = ONE($1); }
    | elements "," element             { $$ = parse_list_add(p, $1, $3); }
    ;
element: named
    | "*" bit_or                       { $$ = N(STARRED, Starred, @$, .value = $2); }
    ;
named: expr
    | expr ":=" expr                   { $$ = parse_foreign(p, @2, ":="); }
    ;
expr: or_test
    | or_test "if" or_test "else" expr { $$ = N(TERNARY, Ternary, @$, .then = $1, .cond = $3, .orelse = $5); }
    | "lambda" lambda_params ":" expr  { $$ = N(LAMBDA, Lambda, @$, .params = $2, .body = $4); }
    ;
lambda_params: %empty                  { $$ = (AstNodes){ 0 }; }
    | lambda_param_list                { $$ = parse_params(p, $1); }
    | lambda_param_list ","            { $$ = parse_params(p, $1); }
    ;
lambda_param_list: lambda_param        { $$ = ONE($1); }
    | lambda_param_list "," lambda_param { $$ = parse_list_add(p, $1, $3); }
    ;
lambda_param: NAME                     { $$ = N(PARAM, Param, @$, .name = $1.name); }
    | NAME "=" expr                    { $$ = N(PARAM, Param, @$, .name = $1.name, .default_value = $3); }
    | "*"                              { $$ = N(STARRED, Starred, @$, .value = NULL); }
    | "/"                              { $$ = NULL; }
    | "*" NAME                         { $$ = parse_foreign_param(p, @$, "*"); }
    | "**" NAME                        { $$ = parse_foreign_param(p, @$, "**"); }
    ;
or_test: and_test
    | or_list                          { $$ = N(LOGIC, Logic, @$, .op = AST_OR, .operands = $1); }
    ;
or_list: and_test "or" and_test        { $$ = parse_list_add(p, ONE($1), $3); }
    | or_list "or" and_test            { $$ = parse_list_add(p, $1, $3); }
    ;
and_test: not_test
    | and_list                         { $$ = N(LOGIC, Logic, @$, .op = AST_AND, .operands = $1); }
    ;
and_list: not_test "and" not_test      { $$ = parse_list_add(p, ONE($1), $3); }
    | and_list "and" not_test          { $$ = parse_list_add(p, $1, $3); }
    ;
not_test: comparison
    | "not" not_test                   { $$ = UNARY(NOT, @$, @1, $2); }
    ;
comparison: bit_or
    | compare_chain
    ;
compare_chain: bit_or compare_op bit_or       { $$ = parse_compare(p, @$, $1, $2, $3); }
    | compare_chain compare_op bit_or         { $$ = parse_compare_more(p, @$, $1, $2, $3); }
    ;
compare_op: "==" { $$ = AST_EQ; } | "!=" { $$ = AST_NE; } | "<" { $$ = AST_LT; }
    | "<="       { $$ = AST_LE; } | ">"  { $$ = AST_GT; } | ">=" { $$ = AST_GE; }
    | "in"       { $$ = AST_IN; } | "not" "in" { $$ = AST_NOT_IN; }
    | "is"       { $$ = AST_IS; } | "is" "not" { $$ = AST_IS_NOT; }
    ;
bit_or: bit_xor
    | bit_or "|" bit_xor               { $$ = BINARY(BIT_OR, @$, $1, @2, $3); }
    ;
bit_xor: bit_and
    | bit_xor "^" bit_and              { $$ = BINARY(BIT_XOR, @$, $1, @2, $3); }
    ;
bit_and: shift
    | bit_and "&" shift                { $$ = BINARY(BIT_AND, @$, $1, @2, $3); }
    ;
shift: arith
    | shift "<<" arith                 { $$ = BINARY(SHL, @$, $1, @2, $3); }
    | shift ">>" arith                 { $$ = BINARY(SHR, @$, $1, @2, $3); }
    ;
arith: term
    | arith "+" term                   { $$ = BINARY(ADD, @$, $1, @2, $3); }
    | arith "-" term                   { $$ = BINARY(SUB, @$, $1, @2, $3); }
    ;
term: factor
    | term "*" factor                  { $$ = BINARY(MUL, @$, $1, @2, $3); }
    | term "/" factor                  { $$ = BINARY(DIV, @$, $1, @2, $3); }
    | term "//" factor                 { $$ = BINARY(FLOOR_DIV, @$, $1, @2, $3); }
    | term "%" factor                  { $$ = BINARY(MOD, @$, $1, @2, $3); }
    | term "@" factor                  { $$ = BINARY(MATMUL, @$, $1, @2, $3); }
    ;
factor: power
    | "+" factor                       { $$ = UNARY(POS, @$, @1, $2); }
    | "-" factor                       { $$ = UNARY(NEG, @$, @1, $2); }
    | "~" factor                       { $$ = UNARY(INVERT, @$, @1, $2); }
    ;
power: primary
    | primary "**" factor              { $$ = BINARY(POW, @$, $1, @2, $3); }
    | "await" primary                  { $$ = parse_foreign(p, @1, "await"); }
    ;
primary: atom
    | primary "." NAME                 { $$ = N(ATTRIBUTE, Attribute, @$, .object = $1, .name = $3.name, .name_span = @3); }
    | primary "(" arguments ")"        { $$ = parse_call(p, @$, $1, $3); }
    | primary "[" subscripts "]"       { $$ = parse_subscript(p, @$, $1, $3, false); }
    | primary "[" subscripts "," "]"   { $$ = parse_subscript(p, @$, $1, $3, true); }
    ;
arguments: %empty                      { $$ = (AstNodes){ 0 }; }
    | argument_list
    | argument_list ","
    ;
argument_list: argument                { $$ = ONE($1); }
    | argument_list "," argument       { $$ = parse_list_add(p, $1, $3); }
    ;
argument: element
    | element comp_for                 { $$ = parse_comprehension(@$, $1, $2, false); }
    | expr "=" expr                    { $$ = parse_keyword(p, @$, $1, $3); }
    | "**" expr                        { $$ = parse_foreign_argument(p, @$); }
    ;
subscripts: subscript                  { $$ = ONE($1); }
    | subscripts "," subscript         { $$ = parse_list_add(p, $1, $3); }
    ;
subscript: element
    | optional_expr ":" optional_expr  { $$ = N(SLICE, Slice, @$, .lower = $1, .upper = $3); }
    | optional_expr ":" optional_expr slice_end
                                       { $$ = N(SLICE, Slice, @$, .lower = $1, .upper = $3, .step = $4); }
    ;
slice_end: ":" optional_expr           { $$ = $2; } ;
optional_expr: %empty                  { $$ = NULL; }
    | expr
    ;

atom: NAME                             { $$ = N(NAME, Name, @$, .name = $1.name); }
    | INT                              { $$ = N(INT, Int, @$, .text = $1.text, .value = $1.integer, .overflow = $1.overflow); }
    | FLOAT                            { $$ = N(FLOAT, Float, @$, .text = $1.text, .value = $1.real); }
    | strings                          { $$ = parse_strings(p, @$, $1); }
    | "None"                           { $$ = parse_leaf(p, AST_NONE, @$); }
    | "True"                           { $$ = N(BOOL, Bool, @$, .value = true); }
    | "False"                          { $$ = N(BOOL, Bool, @$, .value = false); }
    | "..."                            { $$ = parse_leaf(p, AST_ELLIPSIS, @$); }
    | "(" paren ")"                    { $$ = parse_parens($2, @$); }
    | "[" "]"                          { $$ = N(LIST, List, @$, .items = { 0 }); }
    | "[" elements "]"                 { $$ = N(LIST, List, @$, .items = $2); }
    | "[" elements "," "]"             { $$ = N(LIST, List, @$, .items = $2); }
    | "[" element comp_for "]"         { $$ = parse_comprehension(@$, $2, $3, true); }
    | "{" "}"                          { $$ = N(DICT, Dict, @$, .keys = { 0 }); }
    | "{" dict_items "}"               { $$ = parse_dict(p, @$, $2); }
    | "{" dict_items "," "}"           { $$ = parse_dict(p, @$, $2); }
    | "{" dict_items comp_for "}"      { $$ = parse_foreign_display(p, @$, "a dict comprehension"); }
    | "{" elements "}"                 { $$ = parse_foreign_display(p, @$, "a set"); }
    | "{" elements "," "}"             { $$ = parse_foreign_display(p, @$, "a set"); }
    | "{" element comp_for "}"         { $$ = parse_foreign_display(p, @$, "a set comprehension"); }
    ;
paren: %empty                          { $$ = N(TUPLE, Tuple, @$, .items = { 0 }); }
    | element
    | tuple_items                      { $$ = N(TUPLE, Tuple, @$, .items = $1); }
    | element comp_for                 { $$ = parse_comprehension(@$, $1, $2, false); }
    | element "=" expr                 { $$ = parse_slip_equal(p, @2, $1, $3); }
    | foreign_value
    ;
dict_items: expr ":" expr              { $$ = parse_list_add(p, ONE($1), $3); }
    | "**" bit_or                      { $$ = ONE(parse_foreign_display(p, @$, "'**' in a dict")); $$ = parse_list_add(p, $$, $2); }
    | dict_items "," expr ":" expr     { $$ = parse_list_add(p, parse_list_add(p, $1, $3), $5); }
    | dict_items "," "**" bit_or       { $$ = parse_list_add(p, $1, parse_foreign_display(p, @$, "'**' in a dict")); $$ = parse_list_add(p, $$, $4); }
    ;

comp_for: "for" loop_targets "in" or_test comp_ifs
                                       { $$ = N(COMPREHENSION, Comprehension, @$, .target = parse_target(p, $2), .iter = $4, .conditions = $5); }
    | comp_for "for" loop_targets "in" or_test comp_ifs
                                       { $$ = parse_foreign_display(p, @$, "a second 'for' in a comprehension"); }
    ;
comp_ifs: %empty                       { $$ = (AstNodes){ 0 }; }
    | comp_ifs "if" or_test            { $$ = parse_list_add(p, $1, $3); }
    ;
loop_targets: loop_target
    | loop_target ","                  { $$ = N(TUPLE, Tuple, @$, .items = ONE($1)); }
    | loop_target "," loop_target_list { $$ = N(TUPLE, Tuple, @$, .items = parse_list_join(p, ONE($1), $3)); }
    | loop_target "," loop_target_list ","
                                       { $$ = N(TUPLE, Tuple, @$, .items = parse_list_join(p, ONE($1), $3)); }
    ;
loop_target_list: loop_target          { $$ = ONE($1); }
    | loop_target_list "," loop_target { $$ = parse_list_add(p, $1, $3); }
    ;
loop_target: bit_or
    | "*" bit_or                       { $$ = N(STARRED, Starred, @$, .value = $2); }
    ;

/* strings: adjacent literals are one */

strings: string_piece                  { $$ = ONE($1); }
    | strings string_piece             { $$ = parse_list_add(p, $1, $2); }
    ;
string_piece: STRING                   { $$ = N(STRING, String, @$, .value = $1.text, .is_bytes = $1.is_bytes); }
    | FSTRING_START fstring_parts FSTRING_END
                                       { $$ = N(FSTRING, Fstring, @$, .parts = $2); }
    ;
fstring_parts: %empty                  { $$ = (AstNodes){ 0 }; }
    | fstring_parts FSTRING_MIDDLE     { $$ = parse_list_add(p, $1, N(STRING, String, @2, .value = $2.text)); }
    | fstring_parts field              { $$ = parse_list_add(p, $1, $2); }
    ;
field: "{" value field_conversion field_format "}"
                                       { $$ = N(FIELD, Field, @$, .value = $2, .conversion = $3, .spec = $4); }
    | "{" value "=" field_conversion field_format "}"
                                       { $$ = N(FIELD, Field, @$, .value = $2, .conversion = $4, .spec = $5,
                                                .debug = parse_text(p, (Span){ @1.hi, @3.hi })); }
    ;
field_conversion: %empty               { $$ = 0; }
    | "!" NAME                         { $$ = parse_conversion(p, @2, $2.name); }
    ;
field_format: %empty                   { $$ = NULL; }
    | SPEC fstring_parts               { $$ = N(FSTRING, Fstring, @$, .parts = $2); }
    ;

%%

/// Bison's symbol numbers as token kinds; anything else in it is 0.
static const int token_of_symbol[YYNTOKENS] = {
#define TOKEN(ID, text, class) [YYSYMBOL_##ID] = TOK_##ID,
#include "tokens.def"
};

static int yyreport_syntax_error(const yypcontext_t *cx, Parser *p)
{
    yysymbol_kind_t symbols[YYNTOKENS];
    int want[YYNTOKENS];
    int n = yypcontext_expected_tokens(cx, symbols, YYNTOKENS);

    for (int i = 0; i < n; i++)
        want[i] = token_of_symbol[symbols[i]];
    parse_syntax_error(p, *yypcontext_location(cx), want, n);
    return 0;
}
