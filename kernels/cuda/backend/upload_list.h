// SPDX-License-Identifier: GPL-3.0-or-later
// Collects lists for one upload to the GPU. Open this file to change the alignment of lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace spanscope::cuda {

inline constexpr std::size_t kListAlignment = 256;  ///< bytes

/// Lists that are uploaded to the GPU together.
class UploadList {
 public:
  /// Adds a list and returns its offset in the upload.
  template <class T>
  std::size_t add(std::span<const T> values) {
    return addBytes(std::as_bytes(values));
  }
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    return add(std::span<const T>(values));
  }
  const std::vector<std::byte>& bytes() const { return m_bytes; }

 private:
  std::size_t addBytes(std::span<const std::byte> bytes) {
    const std::size_t place = (m_bytes.size() + kListAlignment - 1) / kListAlignment * kListAlignment;
    m_bytes.resize(place + bytes.size());
    std::copy(bytes.begin(), bytes.end(), m_bytes.begin() + static_cast<std::ptrdiff_t>(place));
    return place;
  }
  std::vector<std::byte> m_bytes;
};

}  // namespace spanscope::cuda
