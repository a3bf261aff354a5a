// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/random_values.h"

#include "engine/compute/half.h"

#include <cmath>
#include <cstdlib>
#include <numbers>
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
    : m_offset(misalignment), m_rows(rows), m_columns(columns), m_type(type) {
  if (values.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    throw std::logic_error("HostWeight: size differs");
  }
  m_bytes.resize(misalignment + values.size() * compute::sizeOf(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    compute::storeElement(m_bytes.data() + misalignment + i * compute::sizeOf(type), type, values[i]);
  }
}

compute::HostMatrix HostWeight::view() const {
  return {m_bytes.data() + m_offset, m_type, m_rows, m_columns};
}

std::vector<float> HostWeight::values() const {
  std::vector<float> values(static_cast<std::size_t>(m_rows) * static_cast<std::size_t>(m_columns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = compute::loadElement(m_bytes.data() + m_offset + i * compute::sizeOf(m_type), m_type);
  }
  return values;
}

HostWeight randomWeight(Random& random, std::int64_t rows, std::int64_t columns, compute::DType type,
                        double scale, std::size_t misalignment) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  return HostWeight(randomValues(random, count, scale), rows, columns, type, misalignment);
}

}  // namespace spanscope::testing
