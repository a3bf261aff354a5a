// SPDX-License-Identifier: GPL-3.0-or-later
// Whether keeping blocks is worth it: the time until the logits behind a document are there where all of it
// is computed, and where it is loaded from the tiers of a span store.
#pragma once

#include "engine/experiment/statistics.h"
#include "engine/run/session.h"
#include "engine/run/session_config.h"
#include "engine/trace/sink.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace spanscope::experiment {

struct LoadOptions {
  std::int32_t tokens = 512;  ///< of the document, at least 2
  std::int32_t repeats = 5;
  std::uint64_t seed = 0;        ///< of the token ids
  std::filesystem::path folder;  ///< of a store that is made for this, and stays
};

/// Seconds from asking to the logits of the last token.
struct LoadCase {
  Summary seconds;
  Summary loading;          ///< of these, what reading, checking and copying blocks took
  std::uint64_t bytes = 0;  ///< that were loaded
  std::int64_t tokens = 0;  ///< the same
};

struct LoadTimes {
  LoadCase computed;
  /// The pool is so small that another document of the same size had pushed this one out, and is pushed out
  /// in turn.
  LoadCase host;
  LoadCase disk;      ///< the system has the file in memory
  LoadCase coldDisk;  ///< it was asked to forget the file
  Summary storing;    ///< seconds to write the document to the disk, fsync included
};

/// A session on the model that is measured.
using SessionMaker = std::function<std::unique_ptr<run::Session>(const run::SessionConfig&, trace::Sink&)>;

/// Throws Failure where a document does not fit or it was stopped.
LoadTimes measureLoadTimes(const SessionMaker& make, const run::SessionConfig& config,
                           std::int32_t vocabularySize, const LoadOptions& options, std::stop_token stop);

}  // namespace spanscope::experiment
