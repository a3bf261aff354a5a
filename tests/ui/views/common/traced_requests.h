// SPDX-License-Identifier: GPL-3.0-or-later
// Traces made by hand: a pool, and requests whose blocks are looked up, allocated and stored as the test
// says.
#pragma once

#include "engine/trace/event.h"
#include "ui/session/view_input.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::test {

/// A lookup of block `index` of a segment: a miss of `wanted` tokens.
trace::BlockLookedUp lookupOf(std::int32_t wanted, std::uint32_t segment = 0, std::int32_t index = 0,
                              std::int64_t base = 0);

class TraceMaker {
 public:
  /// `windows`: of the layers, reported with each run; empty: not reported.
  explicit TraceMaker(std::int32_t blockSize = 4, std::int32_t blockCount = 16,
                      std::vector<std::int32_t> windows = {});

  /// Sends an event of a run and request. Returns its sequence number.
  std::uint64_t send(RunId run, RequestId request, trace::Payload payload, const NodePath& node = {});

  /// Starts a run with one request and its span table.
  void startRun(RunId run, RequestId request, std::vector<trace::SegmentInfo> segments,
                const std::string& queryJson = "", const std::string& policy = "spans");
  void finish(RunId run, RequestId request);
  /// Makes a request with one segment of `tokens` tokens. Every block of it is computed and stored, in the
  /// blocks from `firstBlock` on.
  void computedRequest(RunId run, RequestId request, std::int32_t tokens, BlockId firstBlock);

  const std::shared_ptr<ui::TraceStore>& trace() const { return m_trace; }
  /// An input with the whole trace. A contradiction in the trace ends the test program.
  ui::ViewInput input() const;

  /// A segment with the tokens 100, 101, …, which are shown as words.
  static trace::SegmentInfo segment(std::int32_t tokens, std::int64_t base, const NodePath& node,
                                    TokenId firstToken = 100);

 private:
  std::int32_t m_blockSize;
  std::vector<std::int32_t> m_windows;
  std::uint64_t m_sequence = 0;
  std::shared_ptr<ui::TraceStore> m_trace = std::make_shared<ui::TraceStore>();
};

}  // namespace spanscope::test
