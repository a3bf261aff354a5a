// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a function: everything that `spanq` does, with its streams as arguments.
#pragma once

#include "engine/base/output_file.h"
#include "engine/compute/backends.h"

#include <atomic>
#include <filesystem>
#include <iosfwd>
#include <stop_token>

namespace spanscope::cli {

class DescriptorOutput;

enum class ExitCode : int {
  Fine = 0,
  WrongInput = 1,  ///< a file is wrong; standard error has one line for each error
  Usage = 2,
  RunFailed = 3,  ///< a run failed, or its output could not be written
  Stopped = 130
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  /// The terminal of `err`, for progress that is shown and wiped again; nullptr if `err` is no terminal.
  std::ostream* terminal = nullptr;
  bool outIsTerminal = false;                ///< `out` is a terminal
  bool canAsk = false;                       ///< `in` is a terminal, where a person can answer questions
  const DescriptorOutput* output = nullptr;  ///< the output behind `out`, if it can tell what went wrong
  UnfinishedFiles* unfinished = nullptr;     ///< is told which files are being written
  /// A command sets this when it has something to finish (a trace that must be complete) and will end by
  /// itself when it is stopped. Before that, while a query is planned or a model is loaded, an interrupt may
  /// end the program anywhere.
  std::atomic<bool>* endsByItself = nullptr;
  /// Where it is remembered how fast models were; empty: nowhere.
  std::filesystem::path paceFile{};
  /// Where the models stand that were opened last; empty: nowhere.
  std::filesystem::path recentModelsFile{};
  std::stop_token stop{};  ///< runCli() sets it: a stop request ends the reading of files
};

/// Runs one command and returns the exit code as a number. It never throws. On a terminal and on `err` it
/// shows control characters as visible text. If `out` takes no more output, the command ends as soon as it
/// can, unless it also records a trace. A reader that has gone away is no error.
int runCli(int argc, const char* const* argv, const Streams& streams, const compute::Backends& backends,
           std::stop_token stop);

}  // namespace spanscope::cli
