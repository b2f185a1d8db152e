# regraft_module(name SOURCES ... DEPENDS ...): the static library regraft_<name> of one room.
# regraft_test(room SOURCES ... DEPENDS ...): the test program <room>_test.
add_library(regraft_flags INTERFACE)
target_include_directories(regraft_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(regraft_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${REGRAFT_WERROR}>:-Werror>)

function(regraft_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(regraft_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(regraft_${name} PUBLIC regraft_flags ${ARG_DEPENDS})
endfunction()

function(regraft_test room)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${room}_test ${ARG_SOURCES})
  target_link_libraries(${room}_test PRIVATE ${ARG_DEPENDS} GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ${room} TIMEOUT 600 ENVIRONMENT "REGRAFT_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
endfunction()
