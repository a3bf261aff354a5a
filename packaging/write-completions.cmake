# SPDX-License-Identifier: GPL-3.0-or-later
# Has the program SPANQ write what shells complete into FOLDER, under the names that the shells look for.
file(MAKE_DIRECTORY ${FOLDER})
foreach(pair bash:spanq zsh:_spanq fish:spanq.fish)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 shell)
  list(GET pair 1 name)
  execute_process(COMMAND ${SPANQ} completion ${shell} OUTPUT_FILE ${FOLDER}/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
