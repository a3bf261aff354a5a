// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Qt Test needs this type to compare JSON values.
#include <qfloat16.h>

#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::test {

struct SpanqResult {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs the command line in this process. `arguments` does not hold the program's name. `canAsk` makes the
/// command treat the input as a terminal.
SpanqResult spanq(const std::vector<std::string>& arguments, const std::string& input = {},
                  std::stop_token stop = {}, bool canAsk = false);
/// The same with standard error as a terminal. `paceFile`: where the pace of models is remembered.
SpanqResult spanqOnTerminal(const std::vector<std::string>& arguments, const std::string& paceFile);
/// The same without a terminal. `file`: where the list of recently opened models is.
SpanqResult spanqWithRecentModels(const std::vector<std::string>& arguments, const std::string& file);

}  // namespace spanscope::test
