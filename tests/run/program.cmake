# newt_run_program(PROGRAM ARCHS LIST WARPS LIST [ALSO_WARPS LIST] [ALSO_CASES ...] [CASES ...] [STAGES LIST] [OPTIONS ...] [SOURCES ...]
# [DEPENDS ...]): every case of this folder, or those named, in one program, its kernels compiled for ARCHS with each number
# of WARPS, for each number of STAGES (without: as each kernel says) and further OPTIONS of newtc. A case's line "# newtc:
# OPTIONS" adds to these, and each line "# newtc also: OPTIONS" compiles and runs the case once more, with them instead, for
# each number of ALSO_WARPS (without: of WARPS). The cases ALSO_CASES are compiled for ALSO_WARPS only.
set(NEWT_RUN_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(NEWT_RUN_CASES "" CACHE STRING "Cases of tests/run to build (empty: all)")

# One compilation of case NAME for every number of warps and stages; what it makes is told apart by TAG.
macro(newt_run_each name tag options)
  if(arg_STAGES)
    foreach(stages IN LISTS arg_STAGES)
      newt_run_once("${name}" "${tag}s${stages}" "--num-stages=${stages};${options}")
    endforeach()
  else()
    newt_run_once("${name}" "${tag}" "${options}")
  endif()
endmacro()

macro(newt_run_once name tag options)
  foreach(warps IN LISTS arg_WARPS)
    set(stem "${work}/w${warps}${tag}_${name}")
    add_custom_command(
      OUTPUT ${stem}.c ${stem}.h
      COMMAND newtc --arch=${archs} --num-warps=${warps} --prefix=w${warps}${tag}_ --no-manifest -Werror=serial-products
              ${options} ${arg_OPTIONS}
              -MD -MF ${stem}.newt.d -o ${stem}.c ${case}
      DEPENDS ${case} newtc ${arg_DEPENDS}
      DEPFILE ${stem}.newt.d
      COMMENT "Compiling ${name}.newt with ${warps} warps for ${archs}"
      VERBATIM)
    set(library ${program}_${name}_w${warps}${tag})
    add_library(${library} OBJECT EXCLUDE_FROM_ALL ${NEWT_RUN_DIR}/${name}.c ${stem}.c ${stem}.h)
    target_include_directories(${library} PRIVATE "${work}" ${NEWT_RUN_DIR})
    target_link_libraries(${library} PRIVATE newt PkgConfig::CMOCKA newt_warnings)
    target_compile_definitions(${library} PRIVATE RUN_WARPS=${warps}${tag} RUN_NAME=${name}
                               RUN_HEADER="w${warps}${tag}_${name}.h" _POSIX_C_SOURCE=200809L)
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
    string(APPEND table "RUN(${name}, ${warps}${tag})\n")
  endforeach()
endmacro()

function(newt_run_program program)
  cmake_parse_arguments(arg "" "" "ARCHS;WARPS;ALSO_WARPS;ALSO_CASES;CASES;STAGES;OPTIONS;SOURCES;DEPENDS" ${ARGN})
  list(JOIN arg_ARCHS "," archs)
  file(GLOB cases CONFIGURE_DEPENDS ${NEWT_RUN_DIR}/*.newt)
  if(arg_CASES)
    list(TRANSFORM arg_CASES REPLACE "(.+)" "${NEWT_RUN_DIR}/\\1.newt" OUTPUT_VARIABLE cases)
  elseif(NEWT_RUN_CASES)
    list(TRANSFORM NEWT_RUN_CASES REPLACE "(.+)" "${NEWT_RUN_DIR}/\\1.newt" OUTPUT_VARIABLE cases)
  endif()
  set(work "${CMAKE_CURRENT_BINARY_DIR}/${program}_kernels")
  file(MAKE_DIRECTORY "${work}")
  set(table "")
  set(objects)
  set(first_warps ${arg_WARPS})
  if(NOT arg_ALSO_WARPS)
    set(arg_ALSO_WARPS ${arg_WARPS})
  endif()
  foreach(case IN LISTS cases)
    get_filename_component(name ${case} NAME_WE)
    file(STRINGS ${case} options REGEX "^# newtc: ")
    string(REGEX REPLACE "^# newtc: " "" options "${options}")
    separate_arguments(options UNIX_COMMAND "${options}")
    set(arg_WARPS ${first_warps})
    if(name IN_LIST arg_ALSO_CASES)
      set(arg_WARPS ${arg_ALSO_WARPS})
    endif()
    newt_run_each("${name}" "" "${options}")
    set(arg_WARPS ${arg_ALSO_WARPS})
    file(STRINGS ${case} others REGEX "^# newtc also: ")
    set(number 1)
    foreach(line IN LISTS others)
      math(EXPR number "${number} + 1")
      string(REGEX REPLACE "^# newtc also: " "" options "${line}")
      separate_arguments(options UNIX_COMMAND "${options}")
      newt_run_each("${name}" "v${number}" "${options}")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${work}/run_table.def" CONTENT "${table}" @ONLY)

  add_executable(${program} ${NEWT_RUN_DIR}/run.c ${NEWT_RUN_DIR}/number.c ${NEWT_RUN_DIR}/product.c
                 ${arg_SOURCES} ${objects})
  target_include_directories(${program} PRIVATE "${work}" ${NEWT_RUN_DIR})
  target_link_libraries(${program} PRIVATE newt PkgConfig::CMOCKA newt_warnings m)
  target_compile_definitions(${program} PRIVATE _POSIX_C_SOURCE=200809L)
endfunction()
