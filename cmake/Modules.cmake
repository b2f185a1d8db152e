# regraft_module(name [FROM folders or files ...] [EXCEPT files ...] [SOURCES files ...] DEPENDS ...): the static
# library regraft_<name>, of all .cpp files below FROM (this folder), or of SOURCES.
# regraft_messages(room file.proto): the library regraft_<room>_wire of the messages in the file, with the header
# "<room>/file.pb.h".
# regraft_test(room SOURCES ... DEPENDS ...): the test program <room>_test.
add_library(regraft_flags INTERFACE)
target_include_directories(regraft_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(regraft_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${REGRAFT_WERROR}>:-Werror>)

# All .cpp files below the folders, relative to the current one; a file is itself.
function(regraft_sources result)
  set(found)
  foreach(place IN LISTS ARGN)
    if(place MATCHES "[.]cpp$")
      list(APPEND found ${place})
    else()
      file(GLOB_RECURSE below CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${place}/*.cpp)
      list(APPEND found ${below})
    endif()
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# The files of a folder are compiled several together: most of a compiler's time goes to headers.
function(regraft_unity target)
  foreach(file IN LISTS ARGN)
    get_filename_component(folder ${file} DIRECTORY)
    string(MAKE_C_IDENTIFIER "in_${folder}" group)
    math(EXPR count_${group} "${count_${group}} + 1")
    math(EXPR part "(${count_${group}} - 1) / 6")
    set_property(SOURCE ${file} PROPERTY UNITY_GROUP ${group}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(regraft_module name)
  cmake_parse_arguments(ARG "" "" "FROM;EXCEPT;SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_SOURCES)
    if(NOT ARG_FROM)
      set(ARG_FROM ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    regraft_sources(ARG_SOURCES ${ARG_FROM})
    list(REMOVE_ITEM ARG_SOURCES ${ARG_EXCEPT})
  endif()
  add_library(regraft_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(regraft_${name} PUBLIC regraft_flags ${ARG_DEPENDS})
  regraft_unity(regraft_${name} ${ARG_SOURCES})
endfunction()

function(regraft_messages room proto)
  set(generated ${CMAKE_BINARY_DIR}/generated/${room})
  file(MAKE_DIRECTORY ${generated})
  add_library(regraft_${room}_wire STATIC)
  protobuf_generate(LANGUAGE cpp TARGET regraft_${room}_wire PROTOS ${CMAKE_CURRENT_SOURCE_DIR}/${proto}
    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR} PROTOC_OUT_DIR ${generated})
  target_include_directories(regraft_${room}_wire SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(regraft_${room}_wire PUBLIC protobuf::libprotobuf)
endfunction()

function(regraft_test room)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${room}_test ${ARG_SOURCES})
  target_link_libraries(${room}_test PRIVATE ${ARG_DEPENDS} GTest::gtest_main)
  include(GoogleTest)
  gtest_discover_tests(${room}_test TEST_PREFIX "${room}." DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ${room} TIMEOUT 600 ENVIRONMENT "REGRAFT_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
endfunction()
