// SPDX-License-Identifier: GPL-3.0-or-later
// Follows the slots of a llama-server, and writes them as a trace. Open this file when the trace of a
// llama-server is wrong.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/watch/watched_runs.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::watch {

/// One slot in an answer of /slots. Nothing: not reported.
struct SlotReport {
  std::int64_t id = 0;
  std::int64_t context = 0;  ///< max tokens of the slot
  bool isProcessing = false;
  std::int64_t task = -1;      ///< number of the current or last request; −1: none yet
  std::int64_t prompt = 0;     ///< tokens of the prompt
  std::int64_t processed = 0;  ///< prompt tokens that were computed so far
  std::int64_t cached = 0;     ///< prompt tokens that were cache hits
  std::int64_t generated = 0;
  bool operator==(const SlotReport&) const = default;
};

/// Reads an answer of /slots. Wrong and negative numbers count as 0. Throws Failure if the answer is no list.
std::vector<SlotReport> readSlots(std::string_view json);

/// The slots of a llama-server as a trace:
/// - A slot is a fixed part of the pool. The last block of a prompt counts only if it is full.
/// - A request of the trace is a task of the server. Tasks that begin and end between two reports are
///   missing.
/// - The server does not report tokens, so all tokens are −1.
///
/// Times are nanoseconds of any clock that never goes back.
class WatchedSlots {
 public:
  /// `slots`: the first report. The sizes of the slots do not change later.
  WatchedSlots(trace::Sink& sink, WatchedServer server, const std::vector<SlotReport>& slots);

  void take(const std::vector<SlotReport>& slots, std::int64_t now);
  void count(const TokenTotals& totals, std::int64_t now) {
    m_counted.take(m_runs, static_cast<StepIndex>(m_slots.size()), totals, now);
  }
  const TokenTotals& countedTokens() const { return m_counted.sum(); }
  void say(Severity severity, std::string text, std::int64_t now) {
    m_runs.say(severity, std::move(text), now);
  }
  void tick(std::int64_t now) { m_runs.tick(now); }
  void end(std::int64_t now);
  std::uint64_t tasks() const { return m_tasks; }  ///< number of tasks so far

 private:
  struct Slot {
    SlotReport last;
    BlockId first = 1;  ///< the slot has the blocks from here on
    std::int32_t blocks = 0;
    std::int32_t stored = 0;  ///< number of blocks with content
    std::int32_t used = 0;    ///< number of blocks that the open request references
    RequestId request = 0;    ///< 0: none is open
    RunId run = 0;
    std::int64_t begin = 0;
    std::optional<std::int64_t> waitsSince;  ///< the first report of a task that was not read yet
    std::optional<std::int64_t> firstText;
  };

  void begin(std::size_t index, const SlotReport& now, std::int64_t time);
  void progress(std::size_t index, const SlotReport& now, std::int64_t time);
  void finish(std::size_t index, std::int64_t time);
  void store(std::size_t index, std::int64_t tokens);
  void drop(std::size_t index, std::int32_t kept);
  trace::BlockKey keyOf(std::size_t index, std::int32_t block) const;
  trace::BlockKey parentOf(std::size_t index, std::int32_t block) const;
  std::uint64_t send(std::size_t index, trace::Payload payload);

  std::vector<Slot> m_slots;
  std::int32_t m_blockSize;
  WatchedRuns m_runs;
  CountedTokens m_counted;
  std::uint64_t m_tasks = 0;
};

}  // namespace spanscope::watch
