# newt_add_library(<target> [STATIC|OBJECT|SHARED] SOURCES <file.newt>...
#   [ARCHS sm_80 sm_90a ...] [CONFIGS <tune.json>] [DEFINES NAME=VALUE ...] [INCLUDE_DIRECTORIES dir ...] [OPTIONS ...]
#   [HEADER_DIR <sub/dir>] [WARNINGS_AS_ERRORS])
#
# A library of the kernels in the .newt files; a target that links it includes <HEADER_DIR/stem.h>. The
# depfile covers imports, so an edited import rebuilds.

# Architectures when ARCHS is not given: NEWT_ARCHS, else CMAKE_CUDA_ARCHITECTURES (90a, 80-real, 80-virtual), else
# newtc's own default.
function(newt_default_archs out)
  set(archs ${NEWT_ARCHS})
  if(NOT archs AND CMAKE_CUDA_ARCHITECTURES AND NOT CMAKE_CUDA_ARCHITECTURES MATCHES "^(OFF|all|all-major|native)$")
    foreach(arch IN LISTS CMAKE_CUDA_ARCHITECTURES)
      if(arch MATCHES "^([0-9]+[af]?)-virtual$")
        list(APPEND archs "ptx:compute_${CMAKE_MATCH_1}")
      elseif(arch MATCHES "^([0-9]+[af]?)(-real)?$")
        list(APPEND archs "sm_${CMAKE_MATCH_1}")
      endif()
    endforeach()
    list(APPEND archs host)
  endif()
  set(${out} ${archs} PARENT_SCOPE)
endfunction()

function(newt_add_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;OBJECT;SHARED;WARNINGS_AS_ERRORS" "HEADER_DIR;CONFIGS"
                        "SOURCES;ARCHS;DEFINES;INCLUDE_DIRECTORIES;OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "newt_add_library(${target}): unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "newt_add_library(${target}): SOURCES is empty")
  endif()
  if(NOT arg_ARCHS)
    newt_default_archs(arg_ARCHS)
  endif()
  set(kind STATIC)
  foreach(k OBJECT SHARED)
    if(arg_${k})
      set(kind ${k})
    endif()
  endforeach()
  set(root "${CMAKE_CURRENT_BINARY_DIR}/${target}.newt.d")
  set(dir "${root}/${arg_HEADER_DIR}")
  file(MAKE_DIRECTORY "${dir}")
  set(flags ${arg_OPTIONS})
  list(TRANSFORM arg_ARCHS PREPEND "--arch=" OUTPUT_VARIABLE archs)
  list(TRANSFORM arg_DEFINES PREPEND "-D" OUTPUT_VARIABLE defines)
  list(TRANSFORM arg_INCLUDE_DIRECTORIES PREPEND "-I" OUTPUT_VARIABLE includes)
  if(arg_WARNINGS_AS_ERRORS)
    list(APPEND flags -Werror)
  endif()
  set(extra)
  if(arg_CONFIGS)
    get_filename_component(db "${arg_CONFIGS}" ABSOLUTE)
    list(APPEND flags "--tune-db=${db}")
    list(APPEND extra "${db}")
  endif()
  set(generated)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(path "${source}" ABSOLUTE)
    get_filename_component(stem "${source}" NAME_WLE)
    set(base "${dir}/${stem}")
    add_custom_command(
      OUTPUT "${base}.c" "${base}.h" "${base}.json"
      COMMAND Newt::newtc ${archs} ${defines} ${includes} ${flags} "$<$<CONFIG:Debug>:-g>" -MD -MF "${base}.d" -o
              "${base}.c" "${path}"
      DEPENDS "${path}" ${extra} Newt::newtc
      DEPFILE "${base}.d"
      COMMENT "Compiling ${source} to ${stem}.c and ${stem}.h"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND generated "${base}.c" "${base}.h")
  endforeach()
  add_library(${target} ${kind} ${generated})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${root}>")
  target_link_libraries(${target} PUBLIC Newt::runtime m)
endfunction()
