// SPDX-License-Identifier: GPL-3.0-or-later
// The places of matrix elements in the registers of a warp, transcribed from the figures of the PTX ISA
// manual ("Matrix Fragments for mma.m16n8k16 with floating point type", "Warp-level matrix load instruction:
// ldmatrix"), and compared with the results of device.h. Kernels rely on these layouts; nothing here uses a
// kernel.
#include "kernels/cuda/device.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::kWarpSize;

namespace {

/// One row of a figure: the lanes that hold two neighbouring columns each, and the first of the two elements.
struct FigureRow {
  std::array<int, 4> lanes;
  int element;
};

/// Matrix A, columns 0 to 7; in columns 8 to 15 the elements are those plus 4 (a4 … a7).
constexpr std::array<FigureRow, 16> kLeftFigure{{{{0, 1, 2, 3}, 0},
                                                 {{4, 5, 6, 7}, 0},
                                                 {{8, 9, 10, 11}, 0},
                                                 {{12, 13, 14, 15}, 0},
                                                 {{16, 17, 18, 19}, 0},
                                                 {{20, 21, 22, 23}, 0},
                                                 {{24, 25, 26, 27}, 0},
                                                 {{28, 29, 30, 31}, 0},
                                                 {{0, 1, 2, 3}, 2},
                                                 {{4, 5, 6, 7}, 2},
                                                 {{8, 9, 10, 11}, 2},
                                                 {{12, 13, 14, 15}, 2},
                                                 {{16, 17, 18, 19}, 2},
                                                 {{20, 21, 22, 23}, 2},
                                                 {{24, 25, 26, 27}, 2},
                                                 {{28, 29, 30, 31}, 2}}};

/// Two neighbouring rows of matrix B: the lanes by column, and the element of the upper row.
struct FigureRowPair {
  std::array<int, 8> lanes;
  int element;
};
constexpr std::array<FigureRowPair, 8> kRightFigure{{{{0, 4, 8, 12, 16, 20, 24, 28}, 0},
                                                     {{1, 5, 9, 13, 17, 21, 25, 29}, 0},
                                                     {{2, 6, 10, 14, 18, 22, 26, 30}, 0},
                                                     {{3, 7, 11, 15, 19, 23, 27, 31}, 0},
                                                     {{0, 4, 8, 12, 16, 20, 24, 28}, 2},
                                                     {{1, 5, 9, 13, 17, 21, 25, 29}, 2},
                                                     {{2, 6, 10, 14, 18, 22, 26, 30}, 2},
                                                     {{3, 7, 11, 15, 19, 23, 27, 31}, 2}}};

/// Matrices C and D.
constexpr std::array<FigureRow, 16> kSumFigure{{{{0, 1, 2, 3}, 0},
                                                {{4, 5, 6, 7}, 0},
                                                {{8, 9, 10, 11}, 0},
                                                {{12, 13, 14, 15}, 0},
                                                {{16, 17, 18, 19}, 0},
                                                {{20, 21, 22, 23}, 0},
                                                {{24, 25, 26, 27}, 0},
                                                {{28, 29, 30, 31}, 0},
                                                {{0, 1, 2, 3}, 2},
                                                {{4, 5, 6, 7}, 2},
                                                {{8, 9, 10, 11}, 2},
                                                {{12, 13, 14, 15}, 2},
                                                {{16, 17, 18, 19}, 2},
                                                {{20, 21, 22, 23}, 2},
                                                {{24, 25, 26, 27}, 2},
                                                {{28, 29, 30, 31}, 2}}};

/// An 8 × 8 matrix that ldmatrix loads: lane by row and pair of columns.
constexpr std::array<std::array<int, 4>, 8> kLoadFigure{{{0, 1, 2, 3},
                                                         {4, 5, 6, 7},
                                                         {8, 9, 10, 11},
                                                         {12, 13, 14, 15},
                                                         {16, 17, 18, 19},
                                                         {20, 21, 22, 23},
                                                         {24, 25, 26, 27},
                                                         {28, 29, 30, 31}}};

struct Place {
  int lane;
  int element;
};
Place leftPlace(int row, int column) {
  const FigureRow& metric = kLeftFigure.at(static_cast<std::size_t>(row));
  return {metric.lanes.at(static_cast<std::size_t>(column % 8 / 2)),
          metric.element + column % 2 + (column >= 8 ? 4 : 0)};
}
Place rightPlace(int row, int column) {
  const FigureRowPair& metric = kRightFigure.at(static_cast<std::size_t>(row / 2));
  return {metric.lanes.at(static_cast<std::size_t>(column)), metric.element + row % 2};
}
Place sumPlace(int row, int column) {
  const FigureRow& metric = kSumFigure.at(static_cast<std::size_t>(row));
  return {metric.lanes.at(static_cast<std::size_t>(column / 2)), metric.element + column % 2};
}

/// Registers of a warp as memory: elements from the lowest half of the first register up.
constexpr int kLeftElements = 8;
constexpr int kRightElements = 4;
constexpr int kSumElements = 4;

struct ProductArguments {
  const std::uint32_t* left = nullptr;
  const std::uint32_t* right = nullptr;
  float* sum = nullptr;
};
void productKernel(ProductArguments arguments) {
  const int lane = cuda::laneIndex();
  cuda::LeftFragment left;
  cuda::RightFragment right;
  cuda::SumFragment sum;
  for (int i = 0; i < 4; ++i) left.registers[i] = arguments.left[4 * lane + i];
  for (int i = 0; i < 2; ++i) right.registers[i] = arguments.right[2 * lane + i];
  for (int i = 0; i < 4; ++i) sum.values[i] = arguments.sum[4 * lane + i];
  cuda::multiplyAccumulate(sum, left, right);
  for (int i = 0; i < 4; ++i) arguments.sum[4 * lane + i] = sum.values[i];
}

std::vector<std::uint32_t> asRegisters(const std::vector<Bf16>& elements) {
  std::vector<std::uint32_t> words;
  for (std::size_t i = 0; i < elements.size(); i += 2)
    words.push_back(elements[i].bits | static_cast<std::uint32_t>(elements[i + 1].bits) << 16U);
  return words;
}

struct LoadArguments {
  const std::uint16_t* matrices = nullptr;  ///< [matrix][row][column]
  std::uint32_t* out = nullptr;             ///< [lane][register]
};
template <int Count, bool Transposed>
void loadKernel(LoadArguments arguments) {
  cuda::SharedMemory shared;
  auto* const rows = shared.take<std::uint16_t>(64 * Count);
  for (int i = cuda::threadIndex(); i < 64 * Count; i += kWarpSize) rows[i] = arguments.matrices[i];
  cuda::syncBlock();
  // Lanes that give no address give one that may not be read.
  const int lane = cuda::laneIndex();
  const void* const row = lane < 8 * Count ? rows + 8 * lane : nullptr;
  std::uint32_t registers[Count];
  cuda::loadMatrices<Count, Transposed>(registers, row);
  for (int i = 0; i < Count; ++i) arguments.out[Count * lane + i] = registers[i];
}

template <int Count, bool Transposed>
void checkLoad() {
  EmulatedDevice card;
  std::vector<std::uint16_t> matrices(std::size_t{64} * Count);
  for (std::size_t i = 0; i < matrices.size(); ++i) matrices[i] = static_cast<std::uint16_t>(1000 + i);
  const auto in = card.upload(matrices);
  const auto out = card.empty<std::uint32_t>(std::size_t{kWarpSize} * Count);
  cuda::launch(card.stream, "load",
               {.grid = {}, .threads = kWarpSize, .sharedBytes = std::size_t{128} * Count},
               loadKernel<Count, Transposed>, LoadArguments{in.data(), out.data()});
  const std::vector<std::uint32_t> registers = card.download(out);
  for (std::size_t matrix = 0; matrix < Count; ++matrix) {
    for (std::size_t row = 0; row < 8; ++row) {
      for (std::size_t column = 0; column < 8; ++column) {
        // A transposed matrix has at (row, column) what was stored at (column, row).
        const std::size_t source = Transposed ? 8 * column + row : 8 * row + column;
        const auto lane = static_cast<std::size_t>(kLoadFigure.at(row).at(column / 2));
        const std::uint32_t word = registers[Count * lane + matrix];
        const std::uint32_t element = column % 2 == 0 ? word & 0xFFFFU : word >> 16U;
        QCOMPARE(element, std::uint32_t{matrices[64 * matrix + source]});
      }
    }
  }
}

}  // namespace

class TestCudaFragments : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A single 1 at (row, k) of A brings row k of B to row `row` of the sum and nothing else.
  void productsFollowTheFigures() {
    EmulatedDevice card;
    std::vector<Bf16> right(std::size_t{kWarpSize} * kRightElements);
    const auto valueAt = [](int k, int column) { return static_cast<float>(8 * k + column + 1); };
    for (int k = 0; k < 16; ++k) {
      for (int column = 0; column < 8; ++column) {
        const Place place = rightPlace(k, column);
        right[static_cast<std::size_t>(kRightElements * place.lane + place.element)] =
            roundedToBf16(valueAt(k, column));
      }
    }
    const auto deviceRight = card.upload(asRegisters(right));
    for (int row = 0; row < 16; ++row) {
      for (int k = 0; k < 16; ++k) {
        std::vector<Bf16> left(std::size_t{kWarpSize} * kLeftElements, Bf16{0});
        const Place one = leftPlace(row, k);
        left[static_cast<std::size_t>(kLeftElements * one.lane + one.element)] = roundedToBf16(1);
        const auto deviceLeft = card.upload(asRegisters(left));
        const auto sum = card.upload(std::vector<float>(std::size_t{kWarpSize} * kSumElements, 0.5F));
        cuda::launch(card.stream, "product", {.grid = {}, .threads = kWarpSize}, productKernel,
                     ProductArguments{deviceLeft.data(), deviceRight.data(), sum.data()});
        const std::vector<float> values = card.download(sum);
        for (int r = 0; r < 16; ++r) {
          for (int column = 0; column < 8; ++column) {
            const Place place = sumPlace(r, column);
            QCOMPARE(values[static_cast<std::size_t>(kSumElements * place.lane + place.element)],
                     r == row ? valueAt(k, column) + 0.5F : 0.5F);
          }
        }
      }
    }
  }

  void loadsFollowTheFigure() {
    checkLoad<1, false>();
    checkLoad<2, false>();
    checkLoad<4, false>();
    checkLoad<1, true>();
    checkLoad<2, true>();
    checkLoad<4, true>();
  }
};

SPANSCOPE_TEST(tst_fragments, TestCudaFragments)
#include "tst_fragments.moc"
