# SPDX-License-Identifier: GPL-3.0-or-later
# Has the program SPANQ write the pages of all its commands into FOLDER, or the program SPANSCOPE its own, packed as
# Debian wants them.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
# What libraries of Qt leave to the end of the program is no matter of a build with sanitizers.
set(ENV{ASAN_OPTIONS} detect_leaks=0)
if(SPANQ)
  set(command ${SPANQ} man --into ${FOLDER})
else()
  set(command ${SPANSCOPE} --man-page)
endif()
execute_process(
  COMMAND ${command}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE page
  ERROR_VARIABLE said)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${command}: ${result}\n${said}")
endif()
if(SPANSCOPE)
  file(WRITE ${FOLDER}/spanscope.1 "${page}")
endif()
file(GLOB pages ${FOLDER}/*.1)
# Without name and time, so that the same page is the same file.
execute_process(COMMAND gzip -9 --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
