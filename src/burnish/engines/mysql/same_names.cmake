# Given to cmake with CMAKE_PROJECT_INCLUDE, after each project() of the tree, where the vendor's FPROFILE_USE is on.
#
# That option has each source compiled by a name relative to the build folder, as the vendor's instrumented build has.
# Ours is shared with gcc's other profiles and has whole names, and gcc looks up the counts of functions that no other
# object can call by the name of their file: of those, none would be found. The property is read when the files for
# ninja are written, after all of the tree's own lines.
if(CMAKE_CURRENT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL set_property GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
endif()
