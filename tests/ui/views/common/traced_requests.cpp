// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/traced_requests.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace spanscope::test {

trace::BlockLookedUp lookupOf(std::int32_t wanted, std::uint32_t segment, std::int32_t index,
                              std::int64_t base) {
  trace::BlockLookedUp lookup;
  lookup.segment = segment;
  lookup.virtualIndex = index;
  lookup.wanted = wanted;
  lookup.base = base;
  lookup.reason = trace::MissReason::NeverSeen;
  return lookup;
}

TraceMaker::TraceMaker(std::int32_t blockSize, std::int32_t blockCount, std::vector<std::int32_t> windows)
    : m_blockSize(blockSize), m_windows(std::move(windows)) {
  trace::SessionStarted session;
  session.program = "test";
  session.pool.blockSize = blockSize;
  session.pool.blocks.resize(static_cast<std::size_t>(blockCount));
  for (BlockId block = 1; block < blockCount; ++block) session.pool.freeOrder.push_back(block);
  send(0, 0, std::move(session));
}

std::uint64_t TraceMaker::send(RunId run, RequestId request, trace::Payload payload, const NodePath& node) {
  trace::Event event;
  event.sequence = ++m_sequence;
  event.time = static_cast<std::int64_t>(m_sequence) * 1'000'000;
  event.session = 1;
  event.run = run;
  event.request = request;
  event.node = node;
  event.payload = std::move(payload);
  m_trace->append(std::move(event));
  return m_sequence;
}

void TraceMaker::startRun(RunId run, RequestId request, std::vector<trace::SegmentInfo> segments,
                          const std::string& queryJson, const std::string& policy) {
  send(run, 0, trace::RunStarted{queryJson, policy, 0});
  if (!m_windows.empty()) send(run, 0, trace::WindowsReported{m_windows});
  send(run, 0, trace::PlanMade{{{0, "", 0, 0, {}}}, ""});
  send(run, request, trace::StepStarted{0, 0});
  send(run, request, trace::SpanTableLaidOut{std::move(segments)});
}

void TraceMaker::finish(RunId run, RequestId request) {
  send(run, request, trace::StepFinished{0, trace::StepOutcome::EndToken, ""});
  send(run, 0, trace::RunFinished{trace::RunOutcome::Finished, ""});
}

trace::SegmentInfo TraceMaker::segment(std::int32_t tokens, std::int64_t base, const NodePath& node,
                                       TokenId firstToken) {
  trace::SegmentInfo info;
  info.node = node;
  info.base = base;
  for (std::int32_t i = 0; i < tokens; ++i) {
    info.tokens.push_back(firstToken + i);
    info.texts.push_back(" w" + std::to_string(firstToken + i));
  }
  info.runs.push_back({tokens, trace::TokenSource::Text, node});
  return info;
}

void TraceMaker::computedRequest(RunId run, RequestId request, std::int32_t tokens, BlockId firstBlock) {
  const trace::SegmentInfo info = segment(tokens, 0, "/g/input");
  startRun(run, request, {info});
  const std::int32_t count = (tokens + m_blockSize - 1) / m_blockSize;
  const auto fill = [&](std::int32_t index) { return std::min(m_blockSize, tokens - index * m_blockSize); };
  for (std::int32_t index = 0; index < count; ++index) {
    trace::BlockLookedUp lookup;
    lookup.virtualIndex = index;
    lookup.wanted = fill(index);
    lookup.reason = index == 0 ? trace::MissReason::NeverSeen : trace::MissReason::AfterMiss;
    send(run, request, lookup);
  }
  for (std::int32_t index = 0; index < count; ++index)
    send(run, request, trace::BlockAllocated{firstBlock + index, 0, index});
  send(run, request, trace::RequestAdmitted{tokens, 0, 0});
  for (std::int32_t index = 0; index < count; ++index) {
    trace::BlockStored stored;
    stored.block = firstBlock + index;
    stored.key = {run, static_cast<std::uint64_t>(firstBlock + index)};
    stored.virtualIndex = index;
    for (std::int32_t slot = 0; slot < fill(index); ++slot)
      stored.tokens.push_back(info.tokens[static_cast<std::size_t>(index * m_blockSize + slot)]);
    send(run, request, stored, "/g/input");
  }
  for (std::int32_t index = count; index-- > 0;)
    send(run, request, trace::BlockReleased{firstBlock + index, 0});
  finish(run, request);
}

ui::ViewInput TraceMaker::input() const {
  if (!m_trace->contradictions().empty()) throw std::logic_error(m_trace->contradictions().front().message());
  ui::ViewInput input;
  input.document = std::make_shared<const document::Document>();
  input.trace = m_trace;
  input.position = m_trace->size();
  return input;
}

}  // namespace spanscope::test
