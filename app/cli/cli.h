// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a function: everything `spanq` does, with its streams passed in.
#pragma once

#include <iosfwd>
#include <stop_token>

namespace spanscope::cli {

enum class ExitCode : int {
  Fine = 0,
  WrongInput = 1,  ///< a file is wrong; one line an error on standard error
  Usage = 2,
  RunFailed = 3,
  Stopped = 130
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool progress = false;  ///< `err` is a terminal, where progress can be shown and wiped again
  bool canAsk = false;    ///< `in` is a terminal, where a person answers questions
};

/// Runs one command. Returns the exit code as a number. Never throws.
int runCli(int argc, const char* const* argv, const Streams& streams, std::stop_token stop);

}  // namespace spanscope::cli
