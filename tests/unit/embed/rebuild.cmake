# cmake -DEMBED=<embed.cmake> -DWORK=<dir> -DINCLUDE=<compiler/> -DGENERATOR=<g> -P rebuild.cmake
# A change of an embedded file reaches the program at the next build; no change, no work.
file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/text.txt" "first")
file(WRITE "${WORK}/main.c" "#include <stdio.h>\n#include \"words.h\"\n"
           "int main(void) { return puts(words[0].text) < 0; }\n")
file(WRITE "${WORK}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)\nproject(p LANGUAGES C)\n"
           "include(\"${EMBED}\")\nadd_executable(p main.c)\n"
           "target_include_directories(p PRIVATE \"${INCLUDE}\")\nnewt_embed(p words text.txt)\n")

function(run output)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}")
  endif()
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

run(ignored "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build")
foreach(text "first" "second")
  file(WRITE "${WORK}/text.txt" "${text}")
  run(ignored "${CMAKE_COMMAND}" --build "${WORK}/build")
  run(got "${WORK}/build/p")
  if(NOT got STREQUAL "${text}\n")
    message(FATAL_ERROR "the program has '${got}', not '${text}'")
  endif()
endforeach()
run(again "${CMAKE_COMMAND}" --build "${WORK}/build")
if(again MATCHES "Embedding")
  message(FATAL_ERROR "an unchanged file was embedded again:\n${again}")
endif()
