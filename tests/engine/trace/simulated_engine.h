// SPDX-License-Identifier: GPL-3.0-or-later
// Simulates an engine: it sends the events that an engine sends, and keeps its own simple account of the
// pool.
#pragma once

#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace spanscope::trace::test {

/// Keeps every event. Ten microseconds lie between two events.
class ListSink : public Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) override {
    const std::uint64_t sequence = events.size() + 1;
    events.push_back(Event{sequence, static_cast<std::int64_t>(sequence) * 10'000, 1, run, request, node,
                           std::move(payload)});
    return sequence;
  }

  std::vector<Event> events;
};

class SimulatedEngine {
 public:
  SimulatedEngine(Sink& sink, std::uint64_t seed, std::int32_t blockCount, std::int32_t blockSize = 4);

  void start();          ///< starts the session
  void step();           ///< sends a few events of something that can happen now
  void drainRequests();  ///< ends all requests and runs

  const PoolState& pool() const { return m_pool; }
  const std::map<RequestId, std::string>& texts() const { return m_texts; }

 private:
  struct Running {
    RequestId id = 0;
    RunId run = 0;
    NodePath node;
    std::vector<BlockId> blocks;
    std::vector<bool> own;
    std::size_t stored = 0;
    std::int32_t tokens = 0;
  };

  std::uint64_t below(std::uint64_t end) { return m_random() % end; }
  BlockState& at(BlockId block) { return m_pool.blocks[static_cast<std::size_t>(block)]; }
  void leaveFreeList(BlockId block);
  BlockId allocate(const Running& request, std::int32_t virtualIndex);
  void share(const Running& request, BlockId block, std::int32_t virtualIndex);
  void release(const Running& request, BlockId block);
  void store(Running& request);
  void startRequest();
  void generate(Running& request);
  void finish(std::size_t index);
  void clear();

  Sink& m_sink;
  std::mt19937_64 m_random;
  PoolState m_pool;
  std::vector<Running> m_running;
  std::map<RequestId, std::string> m_texts;
  RunId m_run = 0;
  RequestId m_request = 0;
};

/// The events of `steps` steps.
std::vector<Event> simulatedTrace(std::uint64_t seed, int steps, std::int32_t blockCount = 24);

/// The value of SPANSCOPE_TEST_SEED, else `otherwise`. It is printed.
std::uint64_t testSeed(std::uint64_t otherwise);

}  // namespace spanscope::trace::test
