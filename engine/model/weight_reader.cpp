// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weight_reader.h"

#include "engine/base/error.h"
#include "engine/model/finite_values.h"

#include <algorithm>
#include <cstdint>
#include <system_error>

namespace spanscope::model {
namespace {

/// What is hashed and looked at together, so that it comes from memory once.
constexpr std::int64_t kPieceBytes = 256 << 10;

}  // namespace

WeightReader::WeightReader(const WeightSource& source, int threads, bool hashes)
    : m_source(source), m_most(static_cast<std::size_t>(std::max(1, threads))), m_hashes(hashes) {}

WeightReader::~WeightReader() {
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
    m_next = m_tensors.size();  // what nobody waits for is not read
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

void WeightReader::add(const std::string& name, const compute::HostMatrix& matrix) {
  if (m_isFaulty) throwFirst();
  if (m_threads.size() < m_most) {
    try {
      m_threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system starts no more threads
    }
  }
  const std::lock_guard lock(m_mutex);
  Tensor& tensor = m_tensors.emplace_back(Tensor{name, matrix, {}, {}});
  if (m_threads.empty()) {
    ++m_next;
    read(tensor);
    m_isFaulty = m_isFaulty || tensor.fault.has_value();
  }
  m_changed.notify_one();
}

void WeightReader::finish() {
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
  m_threads.clear();
  throwFirst();
}

std::string WeightReader::digest() const {
  if (!m_hashes) return {};
  Digest all;
  for (const Tensor& tensor : m_tensors) {
    all.add(tensor.name);
    all.add(tensor.hash.hex());
  }
  return all.value().hex();
}

void WeightReader::read(Tensor& tensor) const {
  const compute::HostMatrix& matrix = tensor.matrix;
  const auto rowBytes = static_cast<std::int64_t>(matrix.rowBytes());
  const std::int64_t rows =
      std::clamp<std::int64_t>(kPieceBytes / std::max<std::int64_t>(1, rowBytes), 1, matrix.rows);
  Digest digest;
  for (std::int64_t row = 0; row < matrix.rows; row += rows) {
    compute::HostMatrix piece = matrix;
    piece.data = matrix.row(row);
    piece.rows = std::min(rows, matrix.rows - row);
    if (m_hashes) digest.add({piece.data, piece.bytes()});
    const std::optional<NotFinite> found = findNotFinite(piece);
    if (!found) continue;
    const std::size_t index = static_cast<std::size_t>(row * matrix.columns) + found->index;
    tensor.fault = Error{fileOf(m_source, tensor.name), tensor.name,
                         std::string(describe(*found)) + " at the index " + std::to_string(index),
                         "finite numbers: the file is damaged"};
    return;
  }
  if (m_hashes) tensor.hash = digest.value();
}

void WeightReader::work() {
  while (true) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_isEnding || m_next < m_tensors.size(); });
    if (m_next >= m_tensors.size()) return;
    Tensor& tensor = m_tensors[m_next++];
    lock.unlock();
    read(tensor);
    if (tensor.fault) m_isFaulty = true;
  }
}

/// Waits for those who read before, so that the first of several faults is named.
void WeightReader::throwFirst() {
  if (!m_threads.empty()) return finish();
  m_source.requireWhole();
  for (const Tensor& tensor : m_tensors) {
    if (tensor.fault) throw Failure(*tensor.fault);
  }
}

}  // namespace spanscope::model
