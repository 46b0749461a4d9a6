# newt_embed(<target> <symbol> <file>...)
# Compiles the files into <target> as the table declared by "<symbol>.h":
#   extern const NewtEmbedded <symbol>[];  extern const size_t <symbol>_count;
# in the order given. Runs embed_script.cmake at build time, again when a file changes.

function(newt_embed target symbol)
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_script.cmake")
  set(folder "${PROJECT_BINARY_DIR}/generated")
  set(files)
  foreach(file IN LISTS ARGN)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT "${folder}/${symbol}.c" "${folder}/${symbol}.h"
    COMMAND "${CMAKE_COMMAND}" "-DSYMBOL=${symbol}" "-DFOLDER=${folder}" "-DFILES=${joined}" -P
            "${script}"
    DEPENDS ${files} "${script}"
    COMMENT "Embedding ${symbol}"
    VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${symbol}.c" "${folder}/${symbol}.h")
  target_include_directories(${target} PRIVATE "${folder}")
endfunction()
