// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/rotation_tables.h"

namespace spanscope::cuda {
namespace {

/// Number of rows that are added together. Otherwise each step of one token would wait for the GPU.
constexpr std::int64_t kStep = 512;
/// Max number of tables. Each model on the GPU has one table, and there are few models.
constexpr std::size_t kMostTables = 8;

}  // namespace

std::shared_ptr<const DeviceMemory> RotationTables::cover(const compute::RotaryTable& rotary,
                                                          std::int64_t rows) {
  const auto found = std::find_if(m_tables.begin(), m_tables.end(), [&](const Table& table) {
    return table.rotary.inverseFrequencies == rotary.inverseFrequencies &&
           table.rotary.attentionScale == rotary.attentionScale;
  });
  if (found != m_tables.end()) {
    std::rotate(found, found + 1, m_tables.end());
  } else {
    if (m_tables.size() == kMostTables) m_tables.erase(m_tables.begin());
    m_tables.push_back({.rotary = rotary});
  }
  Table& table = m_tables.back();
  if (rows > table.rows) grow(table, rows);
  return table.memory;
}

void RotationTables::grow(Table& table, std::int64_t rows) {
  const std::vector<double>& frequencies = table.rotary.inverseFrequencies;
  const std::int64_t end = std::min((rows + kStep - 1) / kStep * kStep, kMostRows);
  const auto bytesOf = [&](std::int64_t count) {
    return static_cast<std::size_t>(count) * 2 * frequencies.size() * sizeof(float);
  };
  Stream& stream = m_work->stream();
  if (!table.memory || table.memory->bytes() < bytesOf(end)) {
    const std::size_t doubled = table.memory ? 2 * table.memory->bytes() : 0;
    auto larger = std::make_shared<DeviceMemory>(m_device, std::max(doubled, bytesOf(end)), "rotations");
    if (table.rows > 0) stream.copyOnDevice(larger->data(), table.memory->data(), bytesOf(table.rows));
    // A table without users is freed after the copy.
    stream.synchronize();
    table.memory = std::move(larger);
  }
  std::vector<float> added;
  added.reserve(static_cast<std::size_t>(end - table.rows) * 2 * frequencies.size());
  appendRotations(table.rows, end, frequencies, static_cast<double>(table.rotary.attentionScale), added);
  stream.copyToDevice(table.memory->as<std::byte>() + bytesOf(table.rows), added.data(),
                      added.size() * sizeof(float));
  stream.synchronize();
  table.rows = end;
}

}  // namespace spanscope::cuda
