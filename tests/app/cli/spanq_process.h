// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What Qt Test asks of values of JSON before it compares them.
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

/// Runs the command line in this process, without the program's name in `arguments`. `canAsk`: as if the
/// input came from a terminal.
SpanqResult spanq(const std::vector<std::string>& arguments, const std::string& input = {},
                  std::stop_token stop = {}, bool canAsk = false);

}  // namespace spanscope::test
