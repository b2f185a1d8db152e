# Third parties, all from the distribution. Each is linked by one room only; see docs/design.md.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(Z3 REQUIRED IMPORTED_TARGET z3)
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)
find_package(Protobuf REQUIRED)
find_path(ONNX_PROTO_DIR onnx/onnx.proto REQUIRED)  # the description of its messages
find_package(TBB REQUIRED COMPONENTS tbb)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
set(OPENSSL_USE_STATIC_LIBS ${REGRAFT_WHEEL})
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)  # digests
find_package(ZLIB REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)         # used as a header
if(REGRAFT_ONEDNN)
  find_package(OpenMP REQUIRED COMPONENTS CXX)  # what oneDNN's threads are
  # oneDNN's package file wants OpenCL's headers, which nothing here needs.
  find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
  find_library(DNNL_LIBRARY dnnl REQUIRED)
  add_library(regraft_dnnl UNKNOWN IMPORTED)
  set_target_properties(regraft_dnnl PROPERTIES IMPORTED_LOCATION ${DNNL_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
endif()
if(NOT REGRAFT_WHEEL AND CMAKE_BUILD_TYPE STREQUAL "Release")  # not beside a sanitizer's
  find_package(mimalloc 2 QUIET)  # a faster allocator for the program, when it is there
endif()
if(REGRAFT_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark QUIET)  # bench/ is built when it is there
endif()

# CUDA: headers only; the libraries are loaded at run time. Used when they are there, never required.
# 12.8 is the first runtime that loads code without the driver's interface.
set(REGRAFT_HAVE_CUDA OFF)
if(REGRAFT_CUDA)
  find_package(CUDAToolkit 12.8 QUIET)
  find_path(REGRAFT_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_path(REGRAFT_CUBLASLT_INCLUDE cublasLt.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_path(REGRAFT_NVRTC_INCLUDE nvrtc.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  if(CUDAToolkit_FOUND AND REGRAFT_CUDNN_INCLUDE AND REGRAFT_CUBLASLT_INCLUDE AND REGRAFT_NVRTC_INCLUDE)
    set(REGRAFT_HAVE_CUDA ON)
  endif()
endif()
message(STATUS "CUDA: ${REGRAFT_HAVE_CUDA}")

# For a wheel: the same headers, so that objects are those of other builds, and archives whose
# symbols nobody else sees (scripts/wheel makes them).
if(REGRAFT_STATIC)
  foreach(pair protobuf::libprotobuf=protobuf fmt::fmt=fmt)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 target)
    list(GET pair 1 name)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    foreach(configuration IN LISTS configurations)
      set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION_${configuration} ${REGRAFT_STATIC}/lib${name}.a)
    endforeach()
    set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION ${REGRAFT_STATIC}/lib${name}.a)
  endforeach()
  set_property(TARGET protobuf::libprotobuf APPEND PROPERTY INTERFACE_LINK_LIBRARIES ZLIB::ZLIB)
endif()
