// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/run/whole_runs/difference.h"
#include "tests/engine/run/whole_runs/run_case.h"
#include "tests/engine/run/whole_runs/tiny_models.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace spanscope::test {

/// Counts of what the cases have shown.
struct Seen {
  std::int64_t pairs = 0;  ///< warm runs that were compared with cold ones
  std::int64_t failed = 0;
  std::int64_t stopped = 0;
  std::int64_t preemptions = 0;
  std::int64_t cachedTokens = 0;
  std::int64_t relocatedTokens = 0;
  std::int64_t evictedBlocks = 0;
  std::int64_t loadedBlocks = 0;
  std::int64_t teams = 0;
  std::int64_t replays = 0;                      ///< answers that were replayed through the model
  std::int64_t exactSteps = 0;                   ///< steps predicted exactly
  std::int64_t boundedSteps = 0;                 ///< steps predicted with bounds
  std::map<std::string, std::int64_t> policies;  ///< pairs under each policy
  std::map<std::string, std::int64_t> layouts;   ///< pairs in each layout
};

/// Runs cases. It runs each run of a case in the case's session, and again in a session that has seen
/// nothing.
class CaseRunner {
 public:
  /// Stores are made below `folder`, which must exist, and removed again.
  explicit CaseRunner(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  /// Everything that breaks a promise. It checks the runs of the case up to the first with such a difference.
  Differences run(const RunCase& all);

  const Seen& seen() const { return m_seen; }

 private:
  class Scene;

  std::filesystem::path m_folder;
  TinyModels m_models;
  Seen m_seen;
};

}  // namespace spanscope::test
