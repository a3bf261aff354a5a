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

/// The words of a panel of pairs: the even element of k in the lower half.
void packPairs(const compute::HostMatrix& matrix, std::int64_t width, std::int64_t panel,
               std::uint32_t* out) {
  const std::int64_t first = panel * width;
  const std::int64_t features = std::min(width, matrix.rows - first);
  const std::int64_t pairs = (matrix.columns + 1) / 2;
  if (features < width) std::fill_n(out, width * pairs, 0U);
  constexpr std::int64_t kStep = 32;  // as in packPanel()
  for (std::int64_t begin = 0; begin < pairs; begin += kStep) {
    const std::int64_t end = std::min(begin + kStep, pairs);
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::byte* const row = matrix.row(first + feature);
      for (std::int64_t pair = begin; pair < end; ++pair) {
        std::uint32_t word = 0;
        const std::int64_t bytes = std::min<std::int64_t>(4, 2 * matrix.columns - 4 * pair);
        if (bytes == 4) {
          std::memcpy(&word, row + 4 * pair, 4);
        } else {
          std::memcpy(&word, row + 4 * pair, 2);
        }
        out[pair * width + feature] = word;
      }
    }
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

std::unique_ptr<CpuWeight> makePanels(const compute::HostMatrix& matrix, const PanelLayout& layout,
                                      ThreadPool& pool) {
  check(matrix);
  using Layout = CpuWeight::Layout;
  auto weight = std::make_unique<CpuWeight>();
  CpuWeight& target = *weight;
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t width = layout.width;
  const std::int64_t panels = (matrix.rows - 1) / width + 1;
  target.m_format = matrix.format;
  target.m_layout = layout.layout;
  target.m_rows = matrix.rows;
  target.m_columns = matrix.columns;
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
  target.m_buffer = AlignedBuffer(checkedBytes("weight", panels, target.m_panelBytes), "weight");
  const PanelSource source{matrix, width};
  pool.run(panels, std::stop_token{}, [&](std::int64_t panel, int) {
    std::byte* const out = target.m_buffer.as<std::byte>() + panel * target.m_panelBytes;
    if (target.m_layout == Layout::ByteGroups) {
      packBytePanel(matrix, target.m_byteShape, panel, out);
    } else if (target.m_layout == Layout::Bf16Pairs) {
      packPairs(matrix, width, panel, reinterpret_cast<std::uint32_t*>(out));
    } else if (info.isPacked()) {
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
