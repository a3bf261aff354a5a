// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/thread_pool.h"

#include <memory>

namespace spanscope::cpu {

/// A weight in one of two layouts, in bf16 or f32.
///
/// Rows: as in the checkpoint, [rows][columns].
///
/// Panels, for matrix products: [rows / width][columns][width], rounded up and filled with zeros. The
/// arithmetic processes the `width` output features of a panel at once and goes through memory in order. In a
/// bf16 panel the two halves of a width are interleaved. So a shift and a mask split a load of 32-bit lanes
/// into two f32 vectors.
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

/// Keeps the order of the checkpoint. `type` is BF16 only for a matrix of this type. makeRows() and
/// makePanels() throw Failure for absurd sizes or if the memory cannot be allocated.
std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::DType type);

/// Packs panels of an even `width`: bf16 if the checkpoint's type is bf16, else f32.
std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, std::int64_t width,
                                      ThreadPool& pool);

inline const CpuWeight& cpuWeight(const compute::Weight& weight) {
  return static_cast<const CpuWeight&>(weight);
}

}  // namespace spanscope::cpu
