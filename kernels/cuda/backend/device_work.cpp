// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_work.h"

#include "engine/base/error.h"

#include <algorithm>
#include <span>

namespace spanscope::cuda {

void copyToHost(Stream& stream, const CopyToHost& copy) {
  stream.copyToHost(copy.target, copy.source, copy.bytes);
}

void writeZeros(Stream& stream, const Zeros& zeros) {
  stream.fill(zeros.target, 0, zeros.bytes);
}

DeviceWork::DeviceWork(const Device& device, DeviceWorkOptions options)
    : m_device(device),
      m_stream(m_device),
      m_options(std::move(options)),
      m_inFlight(m_device, m_stream),
      m_replayBegin(m_device),
      m_replayEnd(m_device) {
  if (!m_options.counts) m_options.counts = std::make_shared<GraphCounts>();
}

void DeviceWork::begin(std::stop_token stop) {
  flush();
  m_stop = std::move(stop);
  m_stopped = false;
}

bool DeviceWork::stopped() {
  if (m_stopped) return true;
  giveJoined();
  if (m_isNoting)
    m_marks.push_back(m_notes.size());
  else
    m_inFlight.limit(m_options.mostMilliseconds);
  if (isStopRequested()) drop();
  return m_stopped;
}

void DeviceWork::note() {
  flush();
  m_isNoting = m_options.hasGraphs && !m_stopped;
}

void DeviceWork::drop() {
  if (m_isNoting) m_joined.clear();
  m_isNoting = false;
  m_notes.clear();
  m_marks.clear();
  m_keptMemory.clear();
}

/// Leaves out the remaining work of a stopped forward pass.
void DeviceWork::giveNotes() {
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

void DeviceWork::flush() {
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

void DeviceWork::keep(DeviceMemory memory) {
  if (memory.bytes() == 0) return;
  if (m_isNoting)
    m_keptMemory.push_back(std::move(memory));
  else
    giveJoined();
}

void DeviceWork::keepForGood(DeviceMemory memory) noexcept {
  try {
    keep(std::move(memory));
  } catch (const Failure&) {
    // The GPU is lost. No kernel reads the memory any more, and later waits report the error.
  }
}

DeviceWork::Kept* DeviceWork::find() {
  const auto isSame = [&](const std::unique_ptr<Kept>& kept) {
    return std::equal(
        kept->notes.begin(), kept->notes.end(), m_notes.begin(), m_notes.end(),
        [](const std::unique_ptr<Note>& a, const std::unique_ptr<Note>& b) { return a->equals(*b); });
  };
  const auto found = std::find_if(m_kept.begin(), m_kept.end(), isSame);
  return found == m_kept.end() ? nullptr : found->get();
}

void DeviceWork::replay() {
  giveJoined();
  if (!m_isNoting) return;
  if (isStopRequested() || m_notes.empty()) return drop();
  Kept* const kept = find();
  if (kept != nullptr) kept->lastUse = ++m_uses;
  if (kept == nullptr || !kept->graph) {
    m_isNoting = false;
    try {
      // The notes are run before they are recorded. A kernel is loaded at its first launch, which a recording
      // forbids. The GPU also has work meanwhile.
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

void DeviceWork::capture() {
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
    // The work itself has been launched. Without a graph, the operations are always launched one by one.
  }
  kept->notes = std::move(m_notes);
  m_kept.push_back(std::move(kept));
}

void DeviceWork::synchronize() {
  flush();
  Kept* const replayed = std::exchange(m_replayed, nullptr);
  m_stream.synchronize();
  m_inFlight.clear();
  if (replayed == nullptr || m_replayEnd.millisecondsSince(m_replayBegin) <= m_options.mostMilliseconds)
    return;
  // A stop would have to wait for the whole graph.
  replayed->graph.reset();
}

namespace {

/// Used before the time of a piece is known.
constexpr std::size_t kFirstPieces = 2;
constexpr std::size_t kMostPieces = 64;

}  // namespace

void WorkInFlight::addPoint() {
  if (m_free.empty()) m_free.emplace_back(m_device);
  m_stream.record(m_free.back());
  m_points.push_back(std::move(m_free.back()));
  m_free.pop_back();
}

void WorkInFlight::dropFirstPoint() {
  m_free.push_back(std::move(m_points.front()));
  m_points.pop_front();
}

void WorkInFlight::clear() {
  while (!m_points.empty()) dropFirstPoint();
}

void WorkInFlight::limit(double milliseconds) {
  addPoint();
  std::size_t most = kFirstPieces;
  if (m_piece > 0)
    most =
        static_cast<std::size_t>(std::clamp(milliseconds / m_piece, 1.0, static_cast<double>(kMostPieces)));
  while (m_points.size() > most + 1) {
    m_points[1].synchronize();
    m_piece = m_points[1].millisecondsSince(m_points[0]);
    dropFirstPoint();
  }
}

namespace {

/// A range of memory; empty if `data` is null.
struct Bytes {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Returns the memory of rows, from the first element to the last, with the gaps between rows.
Bytes bytesOf(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
              std::size_t elementBytes) {
  if (data == nullptr || rows == 0 || columns == 0) return {};
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + static_cast<std::size_t>((rows - 1) * stride + columns) * elementBytes};
}

bool overlap(const Bytes& a, const Bytes& b) {
  return a.begin < b.end && b.begin < a.end;
}

Bytes outOf(const FewRowProduct& product, const FewRowWeight& weight) {
  return bytesOf(weight.out, product.rows, weight.columns, weight.outStride,
                 weight.outIsFloat ? sizeof(float) : sizeof(Bf16));
}

/// Whether `written` overlaps neither the weight nor its bias.
bool isUnread(const Bytes& written, const FewRowProduct& product, const FewRowWeight& weight) {
  return !overlap(written,
                  bytesOf(weight.elements, weight.columns, product.depth, weight.stride, sizeof(Bf16))) &&
         !overlap(written, bytesOf(weight.bias, 1, weight.columns, weight.columns, sizeof(float)));
}

std::span<const FewRowWeight> weightsOf(const FewRowProduct& product) {
  return {product.weights, static_cast<std::size_t>(product.count)};
}

/// Whether products of the same x may run in any order.
bool areApart(const FewRowProduct& first, const FewRowProduct& second) {
  for (const FewRowWeight& a : weightsOf(first)) {
    for (const FewRowWeight& b : weightsOf(second)) {
      const Bytes out = outOf(first, a);
      const Bytes other = outOf(second, b);
      if (overlap(out, other) || !isUnread(out, second, b) || !isUnread(other, first, a)) return false;
    }
  }
  return true;
}

bool haveTheSameRows(const FewRowProduct& a, const FewRowProduct& b) {
  return a.x == b.x && a.xStride == b.xStride && a.rows == b.rows && a.depth == b.depth;
}

}  // namespace

bool JoinedProducts::join(const FewRowProduct& product) {
  if (isEmpty()) {
    m_waiting = product;
    return true;
  }
  if (!haveTheSameRows(m_waiting, product) || m_waiting.count + product.count > kMostFewRowWeights ||
      !areApart(m_waiting, product))
    return false;
  for (const FewRowWeight& weight : weightsOf(product)) m_waiting.weights[m_waiting.count++] = weight;
  return true;
}

FewRowProduct JoinedProducts::take() {
  return std::exchange(m_waiting, {});
}

}  // namespace spanscope::cuda
