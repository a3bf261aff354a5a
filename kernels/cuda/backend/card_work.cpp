// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/card_work.h"

#include "engine/base/error.h"

#include <algorithm>
#include <utility>

namespace spanscope::cuda {

void copyToHost(Stream& stream, const CopyToHost& copy) {
  stream.copyToHost(copy.target, copy.source, copy.bytes);
}

void writeZeros(Stream& stream, const Zeros& zeros) {
  stream.fill(zeros.target, 0, zeros.bytes);
}

CardWork::CardWork(const Device& device, CardWorkOptions options)
    : m_device(device),
      m_stream(m_device),
      m_options(std::move(options)),
      m_inFlight(m_device, m_stream),
      m_replayBegin(m_device),
      m_replayEnd(m_device) {
  if (!m_options.counts) m_options.counts = std::make_shared<GraphCounts>();
}

void CardWork::begin(std::stop_token stop) {
  flush();
  m_stop = std::move(stop);
  m_stopped = false;
}

bool CardWork::stopped() {
  if (m_stopped) return true;
  giveJoined();
  if (m_isNoting)
    m_marks.push_back(m_notes.size());
  else
    m_inFlight.limit(m_options.mostMilliseconds);
  if (isStopRequested()) drop();
  return m_stopped;
}

void CardWork::note() {
  flush();
  m_isNoting = m_options.hasGraphs && !m_stopped;
}

void CardWork::drop() {
  if (m_isNoting) m_joined.clear();
  m_isNoting = false;
  m_notes.clear();
  m_marks.clear();
  m_keptMemory.clear();
}

/// Leaves out the rest after a stop.
void CardWork::giveNotes() {
  ++m_options.counts->given;
  auto mark = m_marks.begin();
  for (std::size_t i = 0; i < m_notes.size(); ++i) {
    for (; mark != m_marks.end() && *mark == i; ++mark) {
      m_inFlight.limit(m_options.mostMilliseconds);
      if (isStopRequested()) return;
    }
    m_notes[i]->give(m_stream);
  }
}

void CardWork::flush() {
  giveJoined();
  if (!m_isNoting) return;
  m_isNoting = false;
  try {
    if (!m_notes.empty()) giveNotes();
  } catch (...) {
    drop();
    throw;
  }
  drop();
}

void CardWork::keep(DeviceMemory memory) {
  if (memory.bytes() == 0) return;
  if (m_isNoting)
    m_keptMemory.push_back(std::move(memory));
  else
    giveJoined();
}

void CardWork::keepForGood(DeviceMemory memory) noexcept {
  try {
    keep(std::move(memory));
  } catch (const Failure&) {
    // The card is lost: nothing reads the memory any more, and whoever waits for results is told.
  }
}

CardWork::Kept* CardWork::find() {
  const auto isSame = [&](const std::unique_ptr<Kept>& kept) {
    return std::equal(
        kept->notes.begin(), kept->notes.end(), m_notes.begin(), m_notes.end(),
        [](const std::unique_ptr<Note>& a, const std::unique_ptr<Note>& b) { return a->equals(*b); });
  };
  const auto found = std::find_if(m_kept.begin(), m_kept.end(), isSame);
  return found == m_kept.end() ? nullptr : found->get();
}

void CardWork::replay() {
  giveJoined();
  if (!m_isNoting) return;
  if (isStopRequested() || m_notes.empty()) return drop();
  Kept* const kept = find();
  if (kept != nullptr) kept->lastUse = ++m_uses;
  if (kept == nullptr || !kept->graph) {
    m_isNoting = false;
    try {
      // Given before they are recorded: a kernel is loaded when it is first launched, which a recording
      // forbids; and the card has work meanwhile.
      giveNotes();
      if (kept == nullptr && !m_stopped) capture();
    } catch (...) {
      drop();
      throw;
    }
    return drop();
  }
  ++m_options.counts->replays;
  m_stream.record(m_replayBegin);
  m_stream.replay(*kept->graph);
  m_stream.record(m_replayEnd);
  m_replayed = kept;
  drop();
}

void CardWork::capture() {
  if (m_kept.size() >= std::max<std::size_t>(1, m_options.mostGraphs)) {
    const auto oldest = std::min_element(
        m_kept.begin(), m_kept.end(), [](const auto& a, const auto& b) { return a->lastUse < b->lastUse; });
    if (m_replayed == oldest->get()) m_replayed = nullptr;
    m_kept.erase(oldest);
    ++m_options.counts->dropped;
  }
  auto kept = std::make_unique<Kept>();
  kept->lastUse = ++m_uses;
  try {
    kept->graph = std::make_unique<Graph>(m_stream.capture([&] {
      for (const std::unique_ptr<Note>& note : m_notes) note->give(m_stream);
    }));
    ++m_options.counts->captures;
    m_options.counts->notes = static_cast<std::int64_t>(m_notes.size());
  } catch (const Failure&) {
    // The work itself is on its way; without a graph it always goes one by one.
  }
  kept->notes = std::move(m_notes);
  m_kept.push_back(std::move(kept));
}

void CardWork::synchronize() {
  flush();
  Kept* const replayed = std::exchange(m_replayed, nullptr);
  m_stream.synchronize();
  m_inFlight.clear();
  if (replayed == nullptr || m_replayEnd.millisecondsSince(m_replayBegin) <= m_options.mostMilliseconds)
    return;
  // A stop would wait for all of it.
  replayed->graph.reset();
}

}  // namespace spanscope::cuda
