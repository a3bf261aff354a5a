// SPDX-License-Identifier: GPL-3.0-or-later
// A pool of keys and values on the emulated card, and rotations in double precision.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/random_values.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::testing {

/// The angles of a rotary embedding.
class RotaryAngles {
 public:
  /// Makes tables for the distances 0 … count − 1.
  RotaryAngles(int headSize, int count, double theta) : m_pairs(static_cast<std::size_t>(headSize / 2)) {
    for (std::size_t pair = 0; pair < m_pairs; ++pair)
      m_frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(pair) / headSize));
    for (int distance = 0; distance < count; ++distance) {
      for (const double frequency : m_frequencies)
        m_cosSin.push_back(static_cast<float>(std::cos(distance * frequency)));
      for (const double frequency : m_frequencies)
        m_cosSin.push_back(static_cast<float>(std::sin(distance * frequency)));
    }
  }

  /// [distance][cosines, sines]
  const std::vector<float>& cosSin() const { return m_cosSin; }
  const std::vector<double>& frequencies() const { return m_frequencies; }

  std::vector<double> rotate(std::span<const float> head, std::int64_t distance) const {
    std::vector<double> result(head.size());
    for (std::size_t pair = 0; pair < m_pairs; ++pair) {
      const double angle = static_cast<double>(distance) * m_frequencies[pair];
      const auto first = static_cast<double>(head[pair]);
      const auto second = static_cast<double>(head[m_pairs + pair]);
      result[pair] = first * std::cos(angle) - second * std::sin(angle);
      result[m_pairs + pair] = second * std::cos(angle) + first * std::sin(angle);
    }
    return result;
  }

 private:
  std::size_t m_pairs;
  std::vector<double> m_frequencies;
  std::vector<float> m_cosSin;
};

/// Memory on the card for a pool, of exactly its size.
class DevicePool {
 public:
  DevicePool(EmulatedDevice& card, const cuda::KeyValuePool& shape)
      : m_card(card),
        m_shape(shape),
        m_keys(card.empty<std::byte>(bytes())),
        m_values(card.empty<std::byte>(bytes())) {
    m_shape.keys = m_keys.data();
    m_shape.values = m_values.data();
  }

  const cuda::KeyValuePool& shape() const { return m_shape; }
  /// The place of element 0, counted in elements. `slot` counts through all blocks.
  std::size_t placeOf(int layer, std::int64_t slot, int head) const {
    return static_cast<std::size_t>(m_shape.placeOf(layer, slot / m_shape.blockSize, head) +
                                    slot % m_shape.blockSize * m_shape.headSize);
  }

  std::vector<float> downloadKeys() { return download(m_keys); }
  std::vector<float> downloadValues() { return download(m_values); }
  /// Uploads all elements. For a pool of bf16 they are rounded.
  void upload(const std::vector<float>& keys, const std::vector<float>& values) {
    upload(keys, m_keys);
    upload(values, m_values);
  }
  void fillAtRandom(Random& random) {
    const auto count = static_cast<std::size_t>(m_shape.elements());
    upload(randomValues(random, count), randomValues(random, count));
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(m_shape.elements()) * m_shape.elementBytes(); }

  std::vector<float> download(const DeviceArray<std::byte>& from) {
    std::vector<float> values(static_cast<std::size_t>(m_shape.elements()));
    std::vector<cuda::Bf16> rounded(m_shape.isFloat ? 0 : values.size());
    void* const target = m_shape.isFloat ? static_cast<void*>(values.data()) : rounded.data();
    m_card.stream.copyToHost(target, from.data(), bytes());
    m_card.stream.synchronize();
    return m_shape.isFloat ? values : toFloats(rounded);
  }
  void upload(const std::vector<float>& values, const DeviceArray<std::byte>& to) {
    const std::vector<cuda::Bf16> rounded = testing::toBf16(values);
    const void* const source = m_shape.isFloat ? static_cast<const void*>(values.data()) : rounded.data();
    m_card.stream.copyToDevice(to.data(), source, bytes());
    m_card.stream.synchronize();
  }

  EmulatedDevice& m_card;
  cuda::KeyValuePool m_shape;
  DeviceArray<std::byte> m_keys;
  DeviceArray<std::byte> m_values;
};

}  // namespace spanscope::testing
