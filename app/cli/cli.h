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
  bool canAsk = false;                       ///< `in` is a terminal, where the user can answer questions
  const DescriptorOutput* output = nullptr;  ///< the buffer of `out`, if it keeps its first error
  UnfinishedFiles* unfinished = nullptr;     ///< gets the files that are being written.
  /// A command sets this when it will finish its work after a stop, e.g. complete a trace. Until then, an
  /// interrupt may end the program anywhere, e.g. while it plans a query or loads a model.
  std::atomic<bool>* endsByItself = nullptr;
  /// File with the measured speeds of models; empty: none.
  std::filesystem::path paceFile{};
  /// File with the paths of the models that were opened last; empty: none.
  std::filesystem::path recentModelsFile{};
  std::stop_token stop{};  ///< runCli() sets it: a stop request ends the reading of files
};

/// Runs one command and returns the exit code as a number. It never throws. On a terminal and on `err` it
/// shows control characters as visible text. If `out` takes no more output, the command ends as soon as it
/// can, unless it also records a trace. A closed pipe at `out` is no error.
int runCli(int argc, const char* const* argv, const Streams& streams, const compute::Backends& backends,
           std::stop_token stop);

}  // namespace spanscope::cli
