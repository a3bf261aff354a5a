// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of `spanq` as a function. The streams are arguments.
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
  /// The terminal of `err`, for a line of progress; nullptr if `err` is no terminal.
  std::ostream* terminal = nullptr;
  bool outIsTerminal = false;                ///< `out` is a terminal
  bool canAsk = false;                       ///< `in` is a terminal, so the user can answer questions
  const DescriptorOutput* output = nullptr;  ///< the buffer of `out`, if this buffer keeps the first error
  UnfinishedFiles* unfinished = nullptr;     ///< gets the files that are being written.
  /// A command sets this flag to finish the current job after a stop, e.g. to complete a trace. Before that,
  /// an interrupt may end the program at any point, e.g. while a model is loaded.
  std::atomic<bool>* endsByItself = nullptr;
  /// File with the measured speeds of models; empty: none.
  std::filesystem::path paceFile{};
  /// File with the paths of the models that were opened last; empty: none.
  std::filesystem::path recentModelsFile{};
  std::stop_token stop{};  ///< runCli() sets it: a stop request ends the reading of files
};

/// Runs one command and returns the exit code as a number. Never throws. Shows control characters as visible
/// text on a terminal and on `err`. If `out` takes no more output, the command ends early, unless the command
/// also records a trace. A closed pipe at `out` is no error.
int runCli(int argc, const char* const* argv, const Streams& streams, const compute::Backends& backends,
           std::stop_token stop);

}  // namespace spanscope::cli
