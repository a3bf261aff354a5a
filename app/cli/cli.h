// SPDX-License-Identifier: GPL-3.0-or-later
// The command line as a function: everything `spanq` does, with its streams passed in.
#pragma once

#include "engine/base/output_file.h"
#include "engine/compute/backends.h"

#include <atomic>
#include <iosfwd>
#include <stop_token>

namespace spanscope::cli {

class DescriptorOutput;

enum class ExitCode : int {
  Fine = 0,
  WrongInput = 1,  ///< a file is wrong; one line an error on standard error
  Usage = 2,
  RunFailed = 3,  ///< or what it gave could not be written
  Stopped = 130
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  /// Where `err` is a terminal, the same one: for progress, which is shown and wiped again; else nullptr.
  std::ostream* terminal = nullptr;
  bool outIsTerminal = false;                ///< `out` is one
  bool canAsk = false;                       ///< `in` is one, where a person answers questions
  const DescriptorOutput* output = nullptr;  ///< behind `out`, where it can tell what went wrong
  UnfinishedFiles* unfinished = nullptr;     ///< is told of files while they are written
  /// Set by a command from where on it ends by itself when it is stopped, and has something to bring to an
  /// end: a trace that must be whole. Before that, while a query is planned or a model is loaded, an
  /// interrupt may end the program at any place.
  std::atomic<bool>* endsByItself = nullptr;
  std::stop_token stop{};  ///< of runCli(), which sets it: ends the reading of files
};

/// Runs one command. On a terminal and on `err`, control characters of what it shows are spelled out. Returns
/// the exit code as a number. Never throws. Where `out` takes nothing more, the command ends as soon as it
/// can, unless it records a trace as well; a reader who has left is no mistake.
int runCli(int argc, const char* const* argv, const Streams& streams, const compute::Backends& backends,
           std::stop_token stop);

}  // namespace spanscope::cli
