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
  std::int64_t task = -1;  ///< number of the current or last request; −1: none yet
  /// Tokens of the prompt. Newer servers report the tokens in the slot instead, answer included.
  std::int64_t prompt = 0;
  std::int64_t processed = 0;  ///< prompt tokens that were computed so far
  std::int64_t cached = 0;     ///< prompt tokens that were cache hits
  std::int64_t generated = 0;
  bool operator==(const SlotReport&) const = default;
};

/// Reads an answer of /slots. Wrong and negative numbers count as 0. Throws Failure if the answer is no list.
std::vector<SlotReport> readSlots(std::string_view json);

/// The slots of a llama-server as a trace:
/// - A slot is a fixed part of the pool. The server caches single tokens, so the last block of a slot can be
///   partial.
/// - A request of the trace is a task of the server. Tasks that begin and end between two reports are
///   missing, except the last one of a slot.
/// - A server that has ended the request reports no counts of the request. The request then gets the growth
///   of the server's totals, if no other request can have caused the growth.
/// - Growth of the totals that no request of the trace explains becomes a request of a kind of its own.
/// - The server does not report tokens, so all tokens are −1.
///
/// Times are nanoseconds of any clock that never goes back.
class WatchedSlots {
 public:
  /// A request without counts ends after this time.
  static constexpr std::int64_t kPatience = 5'000'000'000;

  /// `slots`: the first report. The sizes of the slots do not change later.
  WatchedSlots(trace::Sink& sink, WatchedServer server, const std::vector<SlotReport>& slots);

  void take(const std::vector<SlotReport>& slots, std::int64_t now);
  /// Takes the totals of the server, which were read after the last report of slots.
  void count(const TokenTotals& totals, std::int64_t now);
  /// Empties all slots, and ends open requests as failed. Call this function when the server has ended.
  void lose(const std::string& reason, std::int64_t now);
  const TokenTotals& countedTokens() const { return m_counted.sum(); }
  void say(Severity severity, std::string text, std::int64_t now) {
    m_runs.say(severity, std::move(text), now);
  }
  void tick(std::int64_t now) { m_runs.tick(now); }
  void end(std::int64_t now);
  std::uint64_t tasks() const { return m_tasks; }  ///< number of tasks so far

 private:
  struct Slot {
    std::int64_t task = -1;
    BlockId first = 1;  ///< the slot has the blocks from here on
    std::int32_t blocks = 0;
    std::int64_t kept = 0;  ///< number of tokens with content
    std::int32_t used = 0;  ///< number of blocks that the open request references
    RequestId request = 0;  ///< 0: none is open
    RunId run = 0;
    SlotReport counts;       ///< of the open request, with the tokens of its prompt
    bool isLaidOut = false;  ///< the counts are known
    bool isCounted = false;  ///< the first totals already include this prompt
    std::int64_t begin = 0;
    std::optional<std::int64_t> endedAt;  ///< the request has ended, and waits for the totals
    std::optional<std::int64_t> firstText;
  };

  void begin(std::size_t index, const SlotReport& now, std::int64_t time);
  void layOut(std::size_t index, const SlotReport& now);
  void progress(std::size_t index, const SlotReport& now, std::int64_t time);
  void endTask(std::size_t index, const SlotReport& now, std::int64_t time);
  void finish(std::size_t index, std::int64_t time, const std::string& brokenBy = {});
  void store(std::size_t index, std::int64_t tokens);
  void drop(std::size_t index, std::int64_t kept);
  void sendStored(std::size_t index, std::int32_t block);
  void settle(std::int64_t now);
  bool isAnyOpen() const;
  std::vector<TokenId> unknownTokens(std::size_t index, std::int32_t block) const;
  trace::BlockKey keyOf(std::size_t index, std::int32_t block) const;
  trace::BlockKey parentOf(std::size_t index, std::int32_t block) const;
  std::uint64_t send(std::size_t index, trace::Payload payload);

  std::vector<Slot> m_slots;
  std::int32_t m_blockSize;
  WatchedRuns m_runs;
  TokenGrowth m_counted;
  TokenTotals m_explained;  ///< the part of m_counted that requests of the trace have
  bool m_wasBusy = true;    ///< whether a request was open at the last totals, or began or ended since
  std::uint64_t m_tasks = 0;
};

}  // namespace spanscope::watch
