# Makes lex.c and gram.{c,h} from lang/. They join newtc_front, and are compiled without our warnings.
find_program(RE2C re2c REQUIRED)
find_program(BISON bison REQUIRED)

set(generated "${PROJECT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${generated}")
add_custom_command(
  OUTPUT "${generated}/lex.c"
  COMMAND ${RE2C} -W -Werror -Wno-match-empty-string -i --no-generation-date -o "${generated}/lex.c"
          "${PROJECT_SOURCE_DIR}/lang/lex.re"
  DEPENDS "${PROJECT_SOURCE_DIR}/lang/lex.re"
  VERBATIM)
add_custom_command(
  OUTPUT "${generated}/gram.c" "${generated}/gram.h"
  COMMAND ${BISON} -Wall -Werror --no-lines "--defines=${generated}/gram.h" -o "${generated}/gram.c"
          "${PROJECT_SOURCE_DIR}/lang/gram.y"
  DEPENDS "${PROJECT_SOURCE_DIR}/lang/gram.y"
  VERBATIM)
set(newtc_front_GENERATED "${generated}/lex.c" "${generated}/gram.c" "${generated}/gram.h")
set_source_files_properties("${generated}/lex.c" "${generated}/gram.c" PROPERTIES COMPILE_OPTIONS "-w")
