// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/weight.h"

#include "engine/base/error.h"
#include "engine/compute/half.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

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

struct PanelSource {
  const compute::HostMatrix& matrix;
  std::int64_t width;
};

/// Place of feature `feature` of a panel among the `width` elements that belong to one k.
template <class T>
std::int64_t placeInPanel(std::int64_t feature, std::int64_t width) {
  if constexpr (!std::is_same_v<T, std::uint16_t>) return feature;
  const std::int64_t half = width / 2;
  return feature < half ? 2 * feature : 2 * (feature - half) + 1;
}

template <class T>
T loadBits(const std::byte* source) {
  T bits{};
  std::memcpy(&bits, source, sizeof bits);
  return bits;
}

template <class T>
void packPanel(const PanelSource& source, std::int64_t panel, T* out) {
  const compute::HostMatrix& matrix = source.matrix;
  const std::int64_t width = source.width;
  const std::int64_t first = panel * width;
  const std::int64_t features = std::min(width, matrix.rows - first);
  if (features < width) std::fill_n(out, width * matrix.columns, T{});
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  // A few k at a time, so that the lines being written stay in the nearest cache.
  constexpr std::int64_t kStep = 64;
  for (std::int64_t begin = 0; begin < matrix.columns; begin += kStep) {
    const std::int64_t end = std::min(begin + kStep, matrix.columns);
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::byte* row = matrix.data + (first + feature) * matrix.columns * kSize;
      T* target = out + placeInPanel<T>(feature, width);
      for (std::int64_t k = begin; k < end; ++k) target[k * width] = loadBits<T>(row + k * kSize);
    }
  }
}

}  // namespace

std::unique_ptr<CpuWeight> makeRows(const compute::HostMatrix& matrix, WeightFormat format) {
  check(matrix);
  auto weight = std::make_unique<CpuWeight>();
  const std::size_t rowBytes = compute::bytesOf(format, matrix.columns);
  weight->m_buffer =
      AlignedBuffer(checkedBytes("weight", matrix.rows, static_cast<std::int64_t>(rowBytes)), "weight");
  weight->m_rows = matrix.rows;
  weight->m_columns = matrix.columns;
  weight->m_format = format;
  weight->m_layout = CpuWeight::Layout::Rows;
  if (format == matrix.format) {
    std::memcpy(weight->m_buffer.as<std::byte>(), matrix.data, weight->m_buffer.size());
  } else {
    compute::widen(matrix.format, matrix.data, matrix.rows * matrix.columns, weight->m_buffer.as<float>());
  }
  return weight;
}

std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, std::int64_t width,
                                      ThreadPool& pool) {
  check(matrix);
  auto weight = std::make_unique<CpuWeight>();
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  weight->m_format = matrix.format;
  const std::int64_t panels = (matrix.rows - 1) / width + 1;
  if (info.isPacked()) weight->m_packedShape = packedPanelShape(info, width);
  weight->m_panelBytes = info.isPacked()
                             ? weight->m_packedShape.panelBytes(matrix.columns)
                             : width * static_cast<std::int64_t>(bytesOf(weight->m_format, matrix.columns));
  weight->m_buffer = AlignedBuffer(checkedBytes("weight", panels, weight->m_panelBytes), "weight");
  weight->m_rows = matrix.rows;
  weight->m_columns = matrix.columns;
  weight->m_layout = CpuWeight::Layout::Panels;
  const PanelSource source{matrix, width};
  CpuWeight& target = *weight;
  pool.run(panels, std::stop_token{}, [&](std::int64_t panel, int) {
    std::byte* out = target.m_buffer.as<std::byte>() + panel * target.m_panelBytes;
    if (info.isPacked()) {
      packPanel(matrix, target.m_packedShape, panel, out);
    } else if (target.m_format == WeightFormat::BF16) {
      packPanel(source, panel, reinterpret_cast<std::uint16_t*>(out));
    } else if (target.m_format == WeightFormat::F16) {
      packPanel(source, panel, reinterpret_cast<F16Bits*>(out));
    } else {
      packPanel(source, panel, reinterpret_cast<float*>(out));
    }
  });
  return weight;
}

}  // namespace spanscope::cpu
