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

/// What was seen of what cases are made to show.
struct Seen {
  std::int64_t pairs = 0;  ///< warm runs held against cold ones
  std::int64_t failed = 0;
  std::int64_t stopped = 0;
  std::int64_t preemptions = 0;
  std::int64_t cachedTokens = 0;
  std::int64_t relocatedTokens = 0;
  std::int64_t evictedBlocks = 0;
  std::int64_t loadedBlocks = 0;
  std::int64_t teams = 0;
  std::int64_t replays = 0;                      ///< replies put through the model once more
  std::int64_t exactSteps = 0;                   ///< predicted without a doubt
  std::int64_t boundedSteps = 0;                 ///< predicted with bounds
  std::map<std::string, std::int64_t> policies;  ///< pairs under each
  std::map<std::string, std::int64_t> layouts;   ///< and in each
};

/// Runs cases: each run of a case in its session, and again in one that has seen nothing.
class CaseRunner {
 public:
  /// Stores are put under this folder, which must be there, and removed again.
  explicit CaseRunner(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  /// Everything that is not as promised, of all runs of the case up to the first in which something is not.
  Differences run(const RunCase& all);

  const Seen& seen() const { return m_seen; }

 private:
  class Scene;

  std::filesystem::path m_folder;
  TinyModels m_models;
  Seen m_seen;
};

}  // namespace spanscope::test
