// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of the behaviour table. A row says what the caches of servers do in some case, and tests that ours
// does the same.
#pragma once

#include "engine/metrics/meters.h"
#include "tests/engine/cache/cache_script.h"

#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::metrics {

inline std::ostream& operator<<(std::ostream& out, const LookupSums& sums) {
  return out << sums.requests << " requests, " << sums.found << " of " << sums.asked << " tokens";
}

}  // namespace spanscope::metrics

namespace spanscope::behaviour {

struct TableRow {
  std::string name;            ///< begins with the row's number in the table: "A8 …"
  std::function<void()> play;  ///< throws if it does not find what the row says
};
using TableRows = std::vector<TableRow>;

/// Rows A and D, and the rows B and C about the cache itself: its hits, allocations, releases and events.
TableRows cacheRows();
/// Rows S: spans.
TableRows spanRows();
/// Rows B2 to B5: blocks and the free list. A28: contents.
TableRows poolRows();
/// Rows B about keys and sizes.
TableRows keyRows();
/// Row B12, and rows C about what is counted.
TableRows figureRows();
/// Rows about requests that run on a model: B15, C2, C4, C6, C8.
TableRows requestRows();
/// Rows D1 to D7 about the span patch of the reference server.
TableRows defectRows();

using cache::test::same;

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

/// Makes a row from a script for the cache.
inline TableRow scripted(std::string name, cache::CacheConfig config, cache::test::Script script) {
  return {std::move(name), [config = std::move(config), script = std::move(script)] {
            cache::test::CacheDriver driver(config);
            for (std::size_t step = 0; step < script.size(); ++step) {
              try {
                script[step](driver);
              } catch (const std::exception& error) {
                throw std::runtime_error("step " + std::to_string(step + 1) + ": " + error.what());
              }
            }
          }};
}

inline cache::CacheConfig wholeBlocks(std::int32_t blockCount, std::int32_t blockSize = 16) {
  cache::CacheConfig config;
  config.blockSize = blockSize;
  config.blockCount = blockCount;
  config.cacheTails = false;
  config.fingerprint = "model";
  return config;
}

inline cache::CacheConfig withTails(std::int32_t blockCount, std::int32_t blockSize = 16) {
  cache::CacheConfig config = wholeBlocks(blockCount, blockSize);
  config.cacheTails = true;
  return config;
}

inline cache::CacheConfig switchedOff(std::int32_t blockCount, std::int32_t blockSize) {
  cache::CacheConfig config = withTails(blockCount, blockSize);
  config.enabled = false;
  return config;
}

inline cache::RequestSpec salted(cache::RequestSpec request, const std::string& salt) {
  request.salt = salt;
  return request;
}

inline cache::RequestSpec generating(cache::RequestSpec request, std::int32_t lookahead) {
  request.lookahead = lookahead;
  return request;
}

}  // namespace spanscope::behaviour
