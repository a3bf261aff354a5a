// SPDX-License-Identifier: GPL-3.0-or-later
// Emits the events of a simulated cache while the cache is in use, without keeping them. The reasons of
// misses are those of simulator::CacheTracer, which keeps a whole trace. Open this file when a block of a
// passed request has a wrong reason.
#pragma once

#include "engine/base/ids.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::gateway {

class CacheReporter final : public simulator::CacheObserver {
 public:
  /// `shape`: of the cache; at least one block. `sink` must outlive the object.
  CacheReporter(const simulator::CacheShape& shape, trace::Sink& sink) : m_shape(shape), m_sink(sink) {}

  /// The empty pool.
  trace::PoolState pool() const;
  /// The request of the next events. `isPrompt`: false for the answer of a request, which has no lookups.
  void follow(simulator::TracedRequest request, bool isPrompt);

  void lookedUp(const std::string& request, const simulator::PromptLookup& lookup) override;
  void admitted(const std::string& request) override;
  void refused(const std::string& request) override;
  void sampled(const std::string& /*request*/, TokenId /*token*/) override {}
  void shared(const std::string& request, BlockId block, std::size_t index) override;
  void taken(const std::string& request, BlockId block, std::size_t index) override;
  void stored(const std::string& request, BlockId block, std::size_t index, const trace::BlockKey& key,
              const trace::BlockKey& parent, std::span<const TokenId> tokens) override;
  void removed(const std::string& request, BlockId block, trace::RemovalReason reason) override;
  void released(const std::string& request, BlockId block) override;
  void savedToHost(const std::string& request, BlockId block) override;
  void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key) override;

 private:
  struct KeyHash {
    std::size_t operator()(const trace::BlockKey& key) const noexcept { return key.low ^ key.high; }
  };
  /// A content that was once stored under a key.
  struct Content {
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;  ///< the blocks with this content
    std::uint64_t removedBy = 0;  ///< sequence number of the last BlockRemoved
  };
  struct Block {
    std::int32_t references = 0;
    bool isCached = false;
    trace::BlockKey key;
    simulator::TracedRequest storedBy;
  };

  std::uint64_t emit(trace::Payload payload);
  Block& at(BlockId block);
  void noteStoredBy(BlockId block, trace::BlockLookedUp& facts) const;
  void explain(const simulator::PromptLookup& lookup, std::size_t index, bool isFirst,
               trace::BlockLookedUp& facts) const;
  void explainDifference(const simulator::PromptLookup& lookup, std::size_t index,
                         trace::BlockLookedUp& facts) const;
  void forgetRemoved();

  const simulator::CacheShape m_shape;
  trace::Sink& m_sink;
  simulator::TracedRequest m_request;
  bool m_isPrompt = true;
  trace::RequestAdmitted m_sums;
  std::size_t m_removed = 0;  ///< contents without a block
  std::vector<Block> m_blocks = std::vector<Block>(1);
  std::unordered_map<trace::BlockKey, Content, KeyHash> m_contents;
  std::unordered_map<trace::BlockKey, std::vector<trace::BlockKey>, KeyHash> m_children;
};

}  // namespace spanscope::gateway
