// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/random_values.h"

#include "engine/compute/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <optional>
#include <stdexcept>

namespace spanscope::testing {

std::uint64_t testSeed(std::uint64_t fallback) {
  const char* text = std::getenv("SPANSCOPE_TEST_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : fallback;
}

std::uint64_t Random::next() {
  m_state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = m_state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1p-53;
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<float> randomValues(Random& random, std::size_t count, double scale) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal() * scale);
  return values;
}

HostWeight::HostWeight(const std::vector<float>& values, std::int64_t rows, std::int64_t columns,
                       compute::DType type, std::size_t misalignment)
    : m_offset(misalignment), m_rows(rows), m_columns(columns), m_format(compute::formatOf(type)) {
  if (values.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    throw std::logic_error("HostWeight: size differs");
  }
  m_bytes.resize(misalignment + values.size() * compute::sizeOf(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    compute::storeElement(m_bytes.data() + misalignment + i * compute::sizeOf(type), type, values[i]);
  }
}

HostWeight::HostWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::WeightFormat format,
                       std::size_t misalignment)
    : m_offset(misalignment), m_rows(rows), m_columns(columns), m_format(format) {
  m_bytes.resize(misalignment + compute::bytesOf(format, rows * columns));
  fillBlocks(random, compute::infoOf(format), std::span(m_bytes).subspan(misalignment));
}

void HostWeight::fillCodes(std::byte byte) {
  const compute::WeightFormatInfo& info = compute::infoOf(m_format);
  const std::size_t size = info.rule.isPowerOfTwo ? 1 : 2;
  const auto isNumber = [size](std::size_t at, std::int32_t place) {
    return at >= static_cast<std::size_t>(place) && at < static_cast<std::size_t>(place) + size;
  };
  for (std::size_t i = m_offset; i < m_bytes.size(); ++i) {
    const std::size_t at = (i - m_offset) % static_cast<std::size_t>(info.blockBytes);
    if (isNumber(at, info.factorAt) || (info.rule.hasMinimum && isNumber(at, info.minimumAt))) continue;
    m_bytes[i] = byte;
  }
}

compute::HostMatrix HostWeight::view() const {
  return {m_bytes.data() + m_offset, m_format, m_rows, m_columns};
}

std::vector<float> HostWeight::values() const {
  std::vector<float> values(static_cast<std::size_t>(m_rows) * static_cast<std::size_t>(m_columns));
  compute::widen(m_format, m_bytes.data() + m_offset, m_rows * m_columns, values.data());
  return values;
}

void fillBlocks(Random& random, const compute::WeightFormatInfo& info, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t number = random.next();
    std::memcpy(bytes.data() + i, &number, std::min(sizeof number, bytes.size() - i));
  }
  // Without the highest bit of its exponent, a number in f16 is finite.
  const auto size = static_cast<std::size_t>(info.blockBytes);
  for (std::size_t block = 0; block + size <= bytes.size(); block += size) {
    std::byte* const factor = &bytes[block + static_cast<std::size_t>(info.factorAt)];
    if (info.rule.isPowerOfTwo)
      *factor = (*factor & std::byte{0x1F}) | std::byte{0x60};
    else
      factor[1] &= std::byte{0xBF};
    if (info.rule.hasMinimum) bytes[block + static_cast<std::size_t>(info.minimumAt) + 1] &= std::byte{0xBF};
  }
}

HostWeight randomWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::DType type,
                        double scale, std::size_t misalignment) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return HostWeight(randomValues(random, count, scale), rows, columns, type, misalignment);
}

HostWeight randomWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::WeightFormat format,
                        double scale, std::size_t misalignment) {
  if (const std::optional<compute::DType> type = compute::dtypeOf(format))
    return randomWeight(random, rows, columns, *type, scale, misalignment);
  return {random, rows, columns, format, misalignment};
}

}  // namespace spanscope::testing
