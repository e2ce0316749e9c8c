# Given to cmake with CMAKE_PROJECT_MySQL_INCLUDE: gives targets precompiled headers once all of them are known.
#
# BURNISH_PRECOMPILED is a list of "TARGET,HEADER,..."; headers with their whole paths, in their order. BURNISH_WITHOUT
# is a list of names of files that go without.
#
# A file goes without where they might be read in another way or order than it means them to be: where it defines
# something before one of its includes, or begins with another header than the first of them. So does a file that is
# generated, since what it will hold is not known yet.
if(CMAKE_VERSION VERSION_LESS 3.20)
  message(STATUS "Burnish: cmake ${CMAKE_VERSION} is older than 3.20: no precompiled headers, a longer compile")
  return()
endif()
cmake_policy(VERSION 3.20)

function(burnish_precompile)
  foreach(entry IN LISTS BURNISH_PRECOMPILED)
    string(REPLACE "," ";" headers "${entry}")
    list(POP_FRONT headers target)
    if(NOT TARGET ${target})
      continue()
    endif()
    list(GET headers 0 first)
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
    target_precompile_headers(${target} PRIVATE ${headers})
    # The preprocessor's output then names the precompiled header: the compiler cache reads it there.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
    cmake_path(GET first FILENAME begins)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE path)
      cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${path} generated)
      set(words "")
      if(EXISTS ${path} AND NOT generated)
        file(STRINGS ${path} words REGEX "^[ \t]*#[ \t]*(define|undef|include)")
        list(TRANSFORM words REPLACE "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]*/)?${begins}[>\"].*" "first")
        list(TRANSFORM words REPLACE "^[ \t]*#[ \t]*(define|undef|include).*" "\\1")
      endif()
      cmake_path(GET path FILENAME name)
      if(name IN_LIST BURNISH_WITHOUT OR NOT "${words}" MATCHES "^first"
         OR "${words}" MATCHES "(define|undef).*(include|first)")
        set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endforeach()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL burnish_precompile)
