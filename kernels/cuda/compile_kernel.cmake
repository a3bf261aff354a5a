# SPDX-License-Identifier: GPL-3.0-or-later
# Compiles SOURCE to OBJECT with COMMAND, and writes the compiler's report of each kernel to REPORT.
execute_process(
  COMMAND ${COMMAND} -MD -MF ${OBJECT}.d -MT ${OBJECT} -c ${SOURCE} -o ${OBJECT}
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${output}")
endif()
file(WRITE ${REPORT} "${output}")
