# SPDX-License-Identifier: GPL-3.0-or-later
# What Debian packages have otherwise than an installation by hand; CPack runs it over the files that it will pack.
file(GLOB roots ${CPACK_TEMPORARY_DIRECTORY}/*/usr)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH, where it is set
foreach(root ${roots})
  file(GLOB binaries ${root}/bin/* ${root}/lib/spanscope/*.so ${root}/libexec/spanscope/*)
  foreach(FILE ${binaries})
    include(${CMAKE_CURRENT_LIST_DIR}/drop-search-paths.cmake)
  endforeach()
  # Debian's zsh looks for the functions of packages there alone.
  if(EXISTS ${root}/share/zsh/site-functions)
    file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
  endif()
  # In Debian's form, which tells of packages; the manual tells of the program.
  file(GLOB folders ${root}/share/doc/*)
  foreach(folder ${folders})
    file(
      WRITE ${folder}/changelog
      "spanscope (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
      "  * The page \"Changes\" of the manual, share/spanscope/manual/changes.md,\n"
      "    says what this version brought.\n\n"
      " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    execute_process(COMMAND gzip -9 --no-name ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
