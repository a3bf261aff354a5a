// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/fast/byte_panels.h"
#include "kernels/cpu/packed_panels.h"
#include "kernels/cpu/thread_pool.h"

#include <cstdint>
#include <memory>

namespace spanscope::cpu {

/// The bits of an f16 element, so that they are not taken for those of a bf16 element.
enum class F16Bits : std::uint16_t {};

struct PanelLayout;

/// A weight in one of these layouts, in the format of the checkpoint.
///
/// Rows: as in the checkpoint, [rows][columns].
///
/// Panels, for matrix products in f32: [rows / width][columns][width], rounded up and filled with zeros. The
/// arithmetic processes the `width` output features of a panel at once and goes through memory in order. In a
/// bf16 panel the two halves of a width are interleaved. So a shift and a mask split a load of 32-bit lanes
/// into two f32 vectors. f16 has an instruction that widens what lies in order. For packed formats see
/// packed_panels.h.
///
/// Bf16Pairs: panels of [⌈columns / 2⌉][width][2], filled with zeros.
///
/// ByteGroups: panels of packed formats, see fast/byte_panels.h.
class CpuWeight final : public compute::Weight {
 public:
  enum class Layout : std::uint8_t { Rows, Panels, Bf16Pairs, ByteGroups };

  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_buffer.size(); }

  Layout layout() const { return m_layout; }
  compute::WeightFormat format() const { return m_format; }
  std::int64_t panelBytes() const { return m_panelBytes; }
  /// Of a packed format, in panels.
  const PackedPanelShape& packedShape() const { return m_packedShape; }
  /// Of a packed format, in groups of bytes.
  const BytePanelShape& byteShape() const { return m_byteShape; }
  template <class T>
  const T* data() const {
    return m_buffer.as<T>();
  }

 private:
  friend std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::WeightFormat format);
  friend std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& panels,
                                               ThreadPool& pool);

  AlignedBuffer m_buffer;
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  std::int64_t m_panelBytes = 0;
  compute::WeightFormat m_format = compute::WeightFormat::F32;
  PackedPanelShape m_packedShape;
  BytePanelShape m_byteShape;
  Layout m_layout = Layout::Rows;
};

/// How panels are laid out.
struct PanelLayout {
  CpuWeight::Layout layout = CpuWeight::Layout::Panels;  ///< not Rows
  std::int64_t width = 0;                                ///< output features of a panel; even
};

/// Keeps the order of the checkpoint. `format` is that of the matrix, or F32. makeRows() and makePanels()
/// throw Failure for absurd sizes or if the memory cannot be allocated.
std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::WeightFormat format);

/// Packs panels. They keep the checkpoint's format, which must be one that the layout is for.
std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& panels,
                                      ThreadPool& pool);

inline const CpuWeight& cpuWeight(const compute::Weight& weight) {
  return static_cast<const CpuWeight&>(weight);
}

}  // namespace spanscope::cpu
