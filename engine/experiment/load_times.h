// SPDX-License-Identifier: GPL-3.0-or-later
// Measures whether keeping blocks saves time: the time until the logits after a document are ready. The
// document is computed, or loaded from the tiers of a span store. Open this file to change this benchmark.
#pragma once

#include "engine/experiment/pause_hook.h"
#include "engine/experiment/statistics.h"
#include "engine/experiment/token_amount.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
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
  std::filesystem::path folder;  ///< the folder of a new store; it is not deleted
  PauseHook seam{};              ///< called before each document is computed or loaded
};

/// Seconds from the request to the logits of the last token.
struct LoadCase {
  Summary seconds;
  Summary loading;          ///< reading, checking and copying blocks
  std::uint64_t bytes = 0;  ///< bytes that were loaded
  std::int64_t tokens = 0;  ///< tokens that were loaded
};

struct LoadTimes {
  LoadCase computed;
  /// The pool is so small that another document of the same size evicts this document, and the reverse.
  LoadCase host;
  LoadCase disk;      ///< the file is in the system's memory
  LoadCase coldDisk;  ///< Spanscope asked the system to drop the file from memory
  Summary storing;    ///< seconds to write the document to the disk, fsync included
};

/// Returns the tokens that measureLoadTimes() computes. Loading and storing, which take time as well, are not
/// counted.
TokenAmount loadAmount(const LoadOptions& options);

/// Makes a session on the measured model.
using SessionMaker = std::function<std::unique_ptr<run::Session>(const run::SessionConfig&, trace::Sink&)>;

/// Throws Failure if a document does not fit, or when stopped.
LoadTimes measureLoadTimes(const SessionMaker& make, const run::SessionConfig& config,
                           std::int32_t vocabularySize, const LoadOptions& options, std::stop_token stop);

/// Returns the folder in which a measurement stores blocks: `asked`, or `usual` if `asked` is empty. Throws
/// Failure if there is no such folder.
std::filesystem::path scratchPlace(const std::filesystem::path& asked, const std::filesystem::path& usual);

/// A separate folder inside another folder, for files of a measurement. The folder is removed on destruction.
/// The code that stores files makes the folder.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

}  // namespace spanscope::experiment
