// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of the CPU backend in all their layouts. Open this file to add a layout.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/fast/byte_panels.h"
#include "kernels/cpu/packed_panels.h"
#include "kernels/cpu/thread_pool.h"

#include <cstdint>
#include <memory>

namespace spanscope::cpu {

/// The bits of an f16 element. The type distinguishes f16 bits from bf16 bits.
enum class F16Bits : std::uint16_t {};

struct PanelLayout;

/// A weight in one of these layouts, in the format of the checkpoint:
/// - Rows: as in the checkpoint, [rows][columns].
/// - Panels, for matrix products in f32: [rows / width][columns][width], rounded up and filled with zeros.
///   For packed formats see packed_panels.h.
/// - Bf16Pairs: panels of [⌈columns / 2⌉][width][2], filled with zeros.
/// - ByteGroups: panels of packed formats, see fast/byte_panels.h.
///
/// The arithmetic processes the `width` output features of a panel together and reads memory in order. In a
/// bf16 panel, output features of the first half and of the second half of the width alternate. A shift and a
/// mask therefore split a load of 32-bit lanes into two f32 vectors. For f16, an instruction widens
/// consecutive elements.
///
/// A borrowed weight has no data of its own yet. Rows are read in place. Panels of f32, f16 and bf16 are
/// arranged in parts during a product (see PanelParts).
class CpuWeight final : public compute::Weight {
 public:
  enum class Layout : std::uint8_t { Rows, Panels, Bf16Pairs, ByteGroups };

  std::int64_t rows() const override { return m_rows; }
  std::int64_t columns() const override { return m_columns; }
  std::size_t bytes() const override { return m_bytes; }
  bool isBorrowed() const override { return m_source.data != nullptr; }
  /// Copies the data; see Backend::own().
  void own(BufferArena& arena, ThreadPool& pool);

  Layout layout() const { return m_layout; }
  compute::WeightFormat format() const { return m_format; }
  std::int64_t panelBytes() const { return m_panelBytes; }
  /// For a packed format, in panels.
  const PackedPanelShape& packedShape() const { return m_packedShape; }
  /// For a packed format, in groups of bytes.
  const BytePanelShape& byteShape() const { return m_byteShape; }
  /// For a weight that is not borrowed.
  template <class T>
  const T* data() const {
    return m_buffer.as<T>();
  }
  /// For a weight in rows.
  const std::byte* row(std::int64_t index) const {
    const std::byte* const first = isBorrowed() ? m_source.data : m_buffer.as<std::byte>();
    return first + index * static_cast<std::int64_t>(bytesOf(m_format, m_columns));
  }
  /// For a borrowed weight in panels. Arranges `count` columns of a panel from k on, as in a panel in memory.
  /// The number k is even. For a packed format, k and `count` are whole blocks.
  void arrange(std::int64_t panel, std::int64_t k, std::int64_t count, std::byte* out) const;

 private:
  friend std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::WeightFormat format,
                                             BufferArena& arena);
  friend std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& panels,
                                               BufferArena& arena, ThreadPool& pool);

  std::int64_t panels() const { return (m_rows - 1) / m_width + 1; }

  AlignedBuffer m_buffer;
  compute::HostMatrix m_source;  ///< the borrowed data
  std::size_t m_bytes = 0;       ///< size of the buffer, if there is a buffer
  std::int64_t m_rows = 0;
  std::int64_t m_columns = 0;
  std::int64_t m_width = 0;  ///< of a panel
  std::int64_t m_panelBytes = 0;
  compute::WeightFormat m_format = compute::WeightFormat::F32;
  PackedPanelShape m_packedShape;
  BytePanelShape m_byteShape;
  Layout m_layout = Layout::Rows;
};

/// The layout of panels.
struct PanelLayout {
  CpuWeight::Layout layout = CpuWeight::Layout::Panels;  ///< not Rows
  std::int64_t width = 0;                                ///< output features of a panel; even
};

/// Keeps the order of the checkpoint. `format` is the format of the matrix, or F32. The functions makeRows()
/// and makePanels() throw Failure for absurd sizes. Both functions also throw Failure if the memory cannot be
/// allocated. Both functions borrow data that stays valid and has this format. Panels of packed formats are
/// never borrowed.
std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, compute::WeightFormat format,
                                    BufferArena& arena);

/// Packs panels. The panels keep the checkpoint's format, which the layout must support.
std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& panels,
                                      BufferArena& arena, ThreadPool& pool);

/// The panels of a weight of f32, f16 or bf16, part by part, for products. Parts of a weight with its own
/// data are read in place. Parts of a borrowed weight are first arranged in `room`.
class PanelParts {
 public:
  /// `room` is the memory for arranged parts. Only borrowed weights use it.
  PanelParts(const CpuWeight& weight, std::int64_t width, std::byte* room)
      : m_weight(weight),
        m_width(width),
        m_elementBytes(static_cast<std::int64_t>(bytesOf(weight.format(), 1))),
        m_room(weight.isBorrowed() ? room : nullptr),
        m_data(weight.isBorrowed() ? nullptr : weight.data<std::byte>()) {}

  /// Returns the bytes between two panels of the result of take().
  std::int64_t stride(std::int64_t count) const {
    return m_room == nullptr ? m_weight.panelBytes() : count * m_width * m_elementBytes;
  }
  /// Returns the columns k … k + count − 1 of `together` consecutive panels, from `panel` on.
  /// The previous result becomes invalid.
  const std::byte* take(std::int64_t panel, std::int64_t together, std::int64_t k, std::int64_t count) const {
    if (m_room == nullptr) return m_data + panel * m_weight.panelBytes() + k * m_width * m_elementBytes;
    for (std::int64_t i = 0; i < together; ++i)
      m_weight.arrange(panel + i, k, count, m_room + i * stride(count));
    return m_room;
  }

 private:
  const CpuWeight& m_weight;
  std::int64_t m_width;
  std::int64_t m_elementBytes;
  std::byte* m_room;
  const std::byte* m_data;
};

/// Some columns of a panel of a packed weight. The columns of a weight with its own data are read in place.
/// For a borrowed weight, the columns are first arranged in `room`.
struct PackedPart {
  PackedPart(const CpuWeight& weight, std::int64_t panel, std::int64_t first, std::int64_t count,
             std::byte* room) {
    if (weight.isBorrowed()) {
      weight.arrange(panel, first, count, room);
      panelData = room;
    } else {
      panelData = weight.data<std::byte>() + panel * weight.panelBytes();
      k = first;
    }
  }

  const std::byte* panelData = nullptr;
  std::int64_t k = 0;  ///< index of the first column in panelData
};

inline const CpuWeight& cpuWeight(const compute::Weight& weight) {
  return static_cast<const CpuWeight&>(weight);
}

}  // namespace spanscope::cpu
