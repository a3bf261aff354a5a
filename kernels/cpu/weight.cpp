// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/weight.h"

#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "kernels/cpu/panel_blocks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace spanscope::cpu {

namespace {

using compute::WeightFormat;

void check(const compute::HostMatrix& matrix) {
  const std::size_t bytes = checkedBytes("weight", matrix.rows, matrix.columns, sizeof(float));
  if (bytes == 0 || matrix.data == nullptr) {
    throw Failure(Error{"", "weight",
                        std::to_string(matrix.rows) + " × " + std::to_string(matrix.columns) + " elements",
                        "at least one element"});
  }
}

/// Some columns of a matrix that panels are made of.
struct PanelSource {
  PanelSource(const compute::HostMatrix& matrix, std::int64_t panelWidth, std::int64_t first,
              std::int64_t count)
      : width(panelWidth),
        rows(matrix.rows),
        columns(count),
        rowBytes(static_cast<std::int64_t>(matrix.rowBytes())),
        data(matrix.data + bytesOf(matrix.format, first)) {}

  std::int64_t width;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t rowBytes;  ///< from a row of the matrix to the next
  const std::byte* data;

  const std::byte* row(std::int64_t index) const { return data + index * rowBytes; }
};

// Panels are transposed matrices. Square by square is transposed.
using Halves = std::uint16_t __attribute__((vector_size(16)));
// Rows are far apart in memory, so the next elements of each row are prefetched.
constexpr std::int64_t kAhead = 256;
// Words of a row that are transposed at a time: a cache line.
constexpr std::int64_t kTurned = 16;

std::uint32_t loadHalf(const std::byte* at) {
  std::uint16_t half = 0;
  std::memcpy(&half, at, sizeof half);
  return half;
}

/// The words of a panel of pairs: the even element of k in the lower half.
void packPairs(const PanelSource& source, std::int64_t panel, std::uint32_t* out) {
  const std::int64_t width = source.width;
  const std::int64_t first = panel * width;
  const std::int64_t features = std::min(width, source.rows - first);
  const std::int64_t pairs = source.columns / 2;
  const std::int64_t whole = features == width ? pairs / kTurned * kTurned : 0;
  if (features < width) std::fill_n(out, width * ((source.columns + 1) / 2), 0U);
  for (std::int64_t begin = 0; begin < whole; begin += kTurned) {
    for (std::int64_t feature = 0; feature < width; feature += kSquare) {
      for (std::int64_t pair = begin; pair < begin + kTurned; pair += kSquare) {
        WordSquare rows;
        for (std::int64_t i = 0; i < kSquare; ++i) {
          const std::byte* const from = source.row(first + feature + i) + 4 * pair;
          if (pair == begin) __builtin_prefetch(from + kAhead);
          rows[static_cast<std::size_t>(i)] = loadVector<Words>(from);
        }
        rotationSquare(rows, width, out + pair * width + feature);
      }
    }
  }
  for (std::int64_t feature = 0; feature < features; ++feature) {
    const std::byte* const row = source.row(first + feature);
    for (std::int64_t pair = whole; pair < pairs; ++pair)
      out[pair * width + feature] = loadHalf(row + 4 * pair) | loadHalf(row + 4 * pair + 2) << 16U;
    if (source.columns % 2 != 0) out[pairs * width + feature] = loadHalf(row + 4 * pairs);
  }
}

/// Packs the words of a bf16 panel. For each k, the lower halves have features of the first half of the
/// width. The upper halves have the features of the second half.
void packInterleaved(const PanelSource& source, std::int64_t panel, std::uint32_t* out) {
  const std::int64_t half = source.width / 2;
  const std::int64_t first = panel * source.width;
  const std::int64_t features = std::min(source.width, source.rows - first);
  const std::int64_t columns = source.columns;
  const std::int64_t whole =
      features == source.width && half % kSquare == 0 ? columns / (2 * kTurned) * (2 * kTurned) : 0;
  if (features < source.width) std::fill_n(out, half * columns, 0U);
  for (std::int64_t begin = 0; begin < whole; begin += 2 * kTurned) {
    for (std::int64_t feature = 0; feature < half; feature += kSquare) {
      for (std::int64_t k = begin; k < begin + 2 * kTurned; k += 2 * kSquare) {
        WordSquare lower;
        WordSquare upper;
        for (std::int64_t i = 0; i < kSquare; ++i) {
          const std::byte* const low = source.row(first + feature + i) + 2 * k;
          const std::byte* const high = source.row(first + half + feature + i) + 2 * k;
          if (k == begin) {
            __builtin_prefetch(low + kAhead);
            __builtin_prefetch(high + kAhead);
          }
          const auto a = loadVector<Halves>(low);
          const auto b = loadVector<Halves>(high);
          lower[static_cast<std::size_t>(i)] =
              reinterpret_cast<Words>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11));
          upper[static_cast<std::size_t>(i)] =
              reinterpret_cast<Words>(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15));
        }
        rotationSquare(lower, half, out + k * half + feature);
        rotationSquare(upper, half, out + (k + kSquare) * half + feature);
      }
    }
  }
  for (std::int64_t feature = 0; feature < std::min(half, features); ++feature) {
    const std::byte* const a = source.row(first + feature);
    const std::byte* const b = half + feature < features ? source.row(first + half + feature) : nullptr;
    for (std::int64_t k = whole; k < columns; ++k)
      out[k * half + feature] = loadHalf(a + 2 * k) | (b == nullptr ? 0U : loadHalf(b + 2 * k) << 16U);
  }
}

template <class T>
T loadBits(const std::byte* source) {
  T bits{};
  std::memcpy(&bits, source, sizeof bits);
  return bits;
}

template <class T>
void packPanel(const PanelSource& source, std::int64_t panel, T* out) {
  const std::int64_t width = source.width;
  const std::int64_t first = panel * width;
  const std::int64_t features = std::min(width, source.rows - first);
  if (features < width) std::fill_n(out, width * source.columns, T{});
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  // A few k at a time, so that the lines being written stay in the nearest cache.
  constexpr std::int64_t kStep = 64;
  for (std::int64_t begin = 0; begin < source.columns; begin += kStep) {
    const std::int64_t end = std::min(begin + kStep, source.columns);
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::byte* row = source.row(first + feature);
      for (std::int64_t k = begin; k < end; ++k) out[k * width + feature] = loadBits<T>(row + k * kSize);
    }
  }
}

}  // namespace

std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, WeightFormat format,
                                    BufferArena& arena) {
  check(matrix);
  auto weight = std::make_unique<CpuWeight>();
  const std::size_t rowBytes = compute::bytesOf(format, matrix.columns);
  weight->m_bytes = checkedBytes("weight", matrix.rows, static_cast<std::int64_t>(rowBytes));
  weight->m_rows = matrix.rows;
  weight->m_columns = matrix.columns;
  weight->m_format = format;
  weight->m_layout = CpuWeight::Layout::Rows;
  if (format == matrix.format && matrix.stays) {
    weight->m_source = matrix;
    return weight;
  }
  weight->m_buffer = arena.take(weight->m_bytes, "weight");
  if (format == matrix.format) {
    std::memcpy(weight->m_buffer.as<std::byte>(), matrix.data, weight->m_buffer.size());
  } else {
    compute::widen(matrix.format, matrix.data, matrix.rows * matrix.columns, weight->m_buffer.as<float>());
  }
  return weight;
}

std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& layout,
                                      BufferArena& arena, ThreadPool& pool) {
  check(matrix);
  using Layout = CpuWeight::Layout;
  auto weight = std::make_unique<CpuWeight>();
  CpuWeight& target = *weight;
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t width = layout.width;
  target.m_format = matrix.format;
  target.m_layout = layout.layout;
  target.m_rows = matrix.rows;
  target.m_columns = matrix.columns;
  target.m_width = width;
  if (layout.layout == Layout::ByteGroups) {
    target.m_byteShape = bytePanelShape(info);
    target.m_panelBytes = target.m_byteShape.panelBytes(matrix.columns);
  } else if (layout.layout == Layout::Bf16Pairs) {
    target.m_panelBytes =
        width * static_cast<std::int64_t>(sizeof(std::uint32_t)) * ((matrix.columns + 1) / 2);
  } else if (info.isPacked()) {
    target.m_packedShape = packedPanelShape(info, width);
    target.m_panelBytes = target.m_packedShape.panelBytes(matrix.columns);
  } else {
    target.m_panelBytes = width * static_cast<std::int64_t>(bytesOf(target.m_format, matrix.columns));
  }
  target.m_bytes = checkedBytes("weight", target.panels(), target.m_panelBytes);
  target.m_source = matrix;
  if (!matrix.stays) target.own(arena, pool);
  return weight;
}

void CpuWeight::own(BufferArena& arena, ThreadPool& pool) {
  if (!isBorrowed()) return;
  AlignedBuffer buffer = arena.take(m_bytes, "weight");
  auto* const all = buffer.as<std::byte>();
  if (m_layout == Layout::Rows) {
    std::memcpy(all, m_source.data, m_bytes);
  } else {
    pool.run(panels(), std::stop_token{},
             [&](std::int64_t panel, int) { arrange(panel, 0, m_columns, all + panel * m_panelBytes); });
  }
  m_buffer = std::move(buffer);
  m_source = {};
}

void CpuWeight::arrange(std::int64_t panel, std::int64_t k, std::int64_t count, std::byte* out) const {
  if (m_layout == Layout::ByteGroups) return packBytePanel(m_source, m_byteShape, panel, k, count, out);
  if (compute::infoOf(m_format).isPacked()) return packPanel(m_source, m_packedShape, panel, k, count, out);
  const PanelSource source(m_source, m_width, k, count);
  if (m_layout == Layout::Bf16Pairs)
    packPairs(source, panel, reinterpret_cast<std::uint32_t*>(out));
  else if (m_format == WeightFormat::BF16)
    packInterleaved(source, panel, reinterpret_cast<std::uint32_t*>(out));
  else if (m_format == WeightFormat::F16)
    packPanel(source, panel, reinterpret_cast<F16Bits*>(out));
  else
    packPanel(source, panel, reinterpret_cast<float*>(out));
}

}  // namespace spanscope::cpu
