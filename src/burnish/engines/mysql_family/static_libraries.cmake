# Given to cmake with CMAKE_PROJECT_INCLUDE, after each project() of the tree: find_library() takes static libraries only.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS TRUE)
