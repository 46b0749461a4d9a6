#!/bin/sh
# Diagnostics: all of them, in three forms, with the switches of warnings; and the exit codes.
. "$(dirname -- "$0")/common.sh"

rows <<'TABLE'
four errors          | 1 | --arch=host four_errors.newt      | errs 4 ; err four_errors.newt:6:17: error: .*\[undefined-name\] ; err :11:35: error: .*\[shape-mismatch\] ; err :16:29: error: .*\[bad-call\] ; err :21:17: error: .*\[bad-value\] ; err ^      ¦                 \^~~~~~~
one of four          | 1 | --arch=host -fmax-errors=1 four_errors.newt | err too many errors; stopping after 1
no limit             | 1 | --arch=host -fmax-errors=0 four_errors.newt | errs 4
warning              | 0 | --arch=host warns.newt            | err warning: .*\[shift-count\] ; errs 0
no warnings          | 0 | --arch=host -w warns.newt         | quiet
one less             | 0 | --arch=host -Wno-shift-count warns.newt | quiet
on again             | 0 | --arch=host -Wno-shift-count -Wshift-count warns.newt | err \[shift-count\]
as error             | 1 | --arch=host -Werror warns.newt    | errs 1
one as error         | 1 | --arch=host -Werror=shift-count warns.newt | errs 1
another as error     | 0 | --arch=host -Werror=float-to-int warns.newt | errs 0
all but one          | 0 | --arch=host -Werror -Wno-error=shift-count warns.newt | errs 0
header of C          | 1 | --arch=host -Werror --header=math.h good.newt | err the header is called 'math.h', as one of C's \[standard-header\] ; err help: name it with --header=math_kernels.h
narrow access        | 0 | --arch=sm_80 --emit=cuda -Wperf gather.newt | err gather.newt:8:23: warning: 32 bits at once: the addresses depend on loaded values \[narrow-access\] ; files gather.cu
in silence           | 0 | --arch=sm_80 --emit=cuda -Wall -Wextra gather.newt | quiet
all groups           | 0 | --arch=host -Wall -Wextra -Wperf good.newt | quiet
colour               | 1 | --arch=host -fdiagnostics-color=always four_errors.newt | err \[1;31merror
JSON                 | 1 | --arch=host -fdiagnostics-format=json four_errors.newt | json
JSON of nothing      | 0 | --arch=host -fdiagnostics-format=json good.newt | json ; err ^\[\]$
JSON of several      | 1 | --arch=host -fdiagnostics-format=json four_errors.newt warns.newt good.newt | json ; files good.c good.h good.json warns.c warns.h warns.json
JSON of no file      | 2 | --arch=host -fdiagnostics-format=json nothing.newt | json ; err "slug":"file"
SARIF                | 1 | --arch=host -fdiagnostics-format=sarif four_errors.newt | sarif
SARIF of nothing     | 0 | --arch=host -fdiagnostics-format=sarif good.newt | sarif
SARIF of several     | 1 | --arch=host -fdiagnostics-format=sarif four_errors.newt warns.newt | sarif ; files warns.c warns.h warns.json
to a file            | 1 | --arch=host -fdiagnostics-file=log four_errors.newt | errs 0 ; files log
to a missing folder  | 2 | --arch=host -fdiagnostics-file=no/log warns.newt | err cannot write 'no/log' ; files warns.c warns.h warns.json
path shown otherwise | 1 | --arch=host -ffile-prefix-map=four=five four_errors.newt | err ^five_errors.newt:6:17
missing input        | 2 | nothing.newt                      | err cannot read 'nothing.newt': No such file or directory \[file\]
folder as input      | 2 | .                                 | err cannot read '.': is a directory
TABLE

# A file that may not be read; the superuser may.
if [ "$(id -u)" -ne 0 ]; then
    fresh
    chmod a-r good.newt
    "$newtc" --arch=host good.newt >"$work/out" 2>"$work/err"
    judge "unreadable input" 2 $? "err cannot read 'good.newt': Permission denied"
fi
finish
