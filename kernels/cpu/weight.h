// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/thread_pool.h"

#include <memory>

namespace spanscope::cpu {

/// A weight in one of two layouts, bf16 or f32.
///
/// Rows: as in the checkpoint, [rows][columns].
///
/// Panels, for matrix products: [rows / width][columns][width], rounded up and filled with zeros. Arithmetic
/// runs over one panel's `width` output features at once, walking through memory in order. In a bf16 panel
/// the two halves of a width are interleaved, so that a load of 32-bit lanes splits into two f32 vectors by a
/// shift and a mask.
class CpuWeight final : public compute::Weight {
 public:
  enum class Layout : std::uint8_t { Rows, Panels };

  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_buffer.size(); }

  Layout layout() const { return m_layout; }
  compute::DType type() const { return m_type; }
  template <class T>
  const T* data() const {
    return m_buffer.as<T>();
  }

 private:
  friend std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::DType type);
  friend std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, std::int64_t width,
                                               ThreadPool& pool);

  AlignedBuffer m_buffer;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  compute::DType m_type = compute::DType::F32;
  Layout m_layout = Layout::Rows;
};

/// Keeps the order of the checkpoint; `type` is BF16 only for a matrix of that type. Throws Failure for
/// absurd sizes or if the memory cannot be had; so does makePanels.
std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::DType type);

/// Packs panels of an even `width`; bf16 if the checkpoint's type is, else f32.
std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, std::int64_t width,
                                      ThreadPool& pool);

inline const CpuWeight& cpuWeight(const compute::Weight& weight) {
  return static_cast<const CpuWeight&>(weight);
}

}  // namespace spanscope::cpu
