// SPDX-License-Identifier: GPL-3.0-or-later
// One random case of whole runs: a session with a history, and how each of its runs is compared with a cold
// session without one. A case is a plain value that follows from its seed, so that one number repeats it. It
// can be printed in full and made smaller.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/plan/plan.h"
#include "engine/policy/choice.h"
#include "engine/query/query.h"
#include "tests/engine/run/whole_runs/tiny_models.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::test {

/// The tiers to which blocks go that leave the pool.
enum class Tiers : std::uint8_t { None, Host, LittleHost, Disk, DiskBehindLittleHost };

/// The settings of a session and its model.
struct SessionChoice {
  std::int32_t blockSize = 16;
  std::int32_t blocks = 400;  ///< the null block included
  std::int32_t rowsPerPass = 512;
  int threads = 1;
  bool halfKeys = false;  ///< keys and values are bf16
  bool tails = true;
  Tiers tiers = Tiers::None;
  Endings endings = Endings::Many;
  std::int32_t positions = 4096;  ///< context of the model, tokens
  std::size_t family = 0;         ///< index in familyConfigs()
  bool operator==(const SessionChoice&) const = default;
};

/// How much attention a run records.
enum class Observed : std::uint8_t { Nothing, Answer, Everything };

struct QueryRun {
  query::Node query;
  policy::Choice policy;
  layout::Layout layout = layout::Layout::Exact;
  plan::OutputForm outputForm = plan::OutputForm::Recomputed;
  bool distribute = true;
  std::uint32_t fanIn = 0;  ///< fan-in of attention locality; 0: off
  bool mapReduce = false;   ///< shape of attention locality
  std::uint64_t seed = 0;
  std::int32_t maxTokens = 6;
  std::int32_t topK = 0;
  float topP = 1;
  Observed observed = Observed::Nothing;
  bool isFirstOfSession = false;  ///< a new session starts here; the stores of the session before are there
  bool isCacheEmptied = false;    ///< the cache is emptied before the run
  /// The cache is emptied a few times, each time after this many passes; 0: never.
  std::int32_t emptyEvery = 0;
  std::int32_t stopAfter = 0;     ///< number of passes after which the run is stopped; 0: it is not
  bool isReplayed = false;        ///< its answers are replayed through the model
  bool isPredictedAhead = false;  ///< it is predicted by the predictor of the run before, if there is one
  bool operator==(const QueryRun&) const = default;
};

struct RunCase {
  std::uint64_t seed = 0;
  SessionChoice warm;
  /// The settings in which the cold sessions differ. They also have room for everything and no tiers.
  std::int32_t coldRowsPerPass = 512;
  int coldThreads = 1;
  std::vector<QueryRun> runs;
  bool operator==(const RunCase&) const = default;
};

/// Seeds from this number on are those of the family 1, from twice it on of the family 2, and so on.
constexpr std::uint64_t kSeedsOfFamily = 1'000'000'000;

RunCase makeRunCase(std::uint64_t seed);

/// The whole case as text: one line for the session and one or two for each run.
std::string describe(const RunCase& all);

/// The number of blocks of a pool in which nothing is ever evicted.
std::int32_t roomyBlocks(std::int32_t blockSize);

}  // namespace spanscope::test
