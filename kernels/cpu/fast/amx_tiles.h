// SPDX-License-Identifier: GPL-3.0-or-later
// The processor's tile registers (AMX): eight registers of at most 16 rows of 64 bytes. Sources: Intel's
// Architectures Software Developer's Manual, volume 2 (TILELOADD, TDPBF16PS, TDPBSSD) and volume 1, chapter
// 18. Open this file to use a tile instruction.
//
// Each thread has its own registers, which must be configured before use. The instructions are written in
// assembler, because GCC 12's declarations do not name the memory that an instruction reads.
#pragma once

#if defined(__x86_64__)
#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

inline constexpr int kTileRows = 16;
inline constexpr int kTileRowBytes = 64;

/// The use of the registers in a product: four tiles of sums, and two tiles of each factor. Rows of
/// activations go into an upper and a lower tile. The 32 features of a panel go into a left and a right tile.
enum class Tile : std::uint8_t {
  UpperLeft,
  UpperRight,
  LowerLeft,
  LowerRight,
  UpperRows,
  LowerRows,
  LeftWeights,
  RightWeights
};

/// Configures this thread's registers, and releases the registers at the end of its life. The system
/// needs more time to switch to a thread with configured tile registers.
class TileRegisters {
 public:
  /// Rows have `bytesAlongK` bytes along k, at most kTileRowBytes, a multiple of four.
  explicit TileRegisters(int bytesAlongK) : m_bytesAlongK(bytesAlongK) {}
  ~TileRegisters() {
    if (m_rows != 0) asm volatile("tilerelease");
  }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;

  /// Configures the tiles for 1 to 2 · kTileRows rows. A change of the configuration deletes the contents.
  void fit(std::int64_t rows) {
    if (rows == m_rows) return;
    m_rows = rows;
    Configuration configuration;
    const auto upper = static_cast<std::uint8_t>(upperRows(rows));
    const auto lower = static_cast<std::uint8_t>(rows - upper);
    const auto set = [&](Tile tile, std::uint8_t tileRows, int rowBytes) {
      if (tileRows == 0) return;  // an unused tile
      configuration.rows[static_cast<std::size_t>(tile)] = tileRows;
      configuration.rowBytes[static_cast<std::size_t>(tile)] = static_cast<std::uint16_t>(rowBytes);
    };
    set(Tile::UpperLeft, upper, kTileRowBytes);
    set(Tile::UpperRight, upper, kTileRowBytes);
    set(Tile::LowerLeft, lower, kTileRowBytes);
    set(Tile::LowerRight, lower, kTileRowBytes);
    set(Tile::UpperRows, upper, m_bytesAlongK);
    set(Tile::LowerRows, lower, m_bytesAlongK);
    const auto words = static_cast<std::uint8_t>(m_bytesAlongK / 4);
    set(Tile::LeftWeights, words, kTileRowBytes);
    set(Tile::RightWeights, words, kTileRowBytes);
    asm volatile("ldtilecfg %0" : : "m"(configuration));
  }

  /// Returns the number of rows in the upper tile.
  static std::int64_t upperRows(std::int64_t rows) { return rows < kTileRows ? rows : kTileRows; }

 private:
  struct alignas(64) Configuration {
    std::uint8_t palette = 1;
    std::uint8_t startRow = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t rowBytes[16] = {};
    std::uint8_t rows[16] = {};
  };
  static_assert(sizeof(Configuration) == 64);

  int m_bytesAlongK;
  std::int64_t m_rows = 0;
};

template <Tile kTile>
inline void clearTile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(static_cast<int>(kTile)));
}

/// Rows begin `stride` bytes apart.
template <Tile kTile>
inline void loadTile(const void* from, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(from), "r"(stride), "i"(static_cast<int>(kTile))
               : "memory");
}

template <Tile kTile>
inline void storeTile(void* to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
               :
               : "r"(to), "r"(stride), "i"(static_cast<int>(kTile))
               : "memory");
}

/// sums[m][n] += Σ over words w of rows[m][w] · weights[w][n], in f32. A word has two bf16 elements. The
/// products of the even elements are summed from zero, one after the other. The products of the odd elements
/// have a sum of their own. The two sums are added, then the old value. Subnormal numbers are zeros.
template <Tile kSums, Tile kRows, Tile kWeights>
inline void addPairs() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0"
               :
               : "i"(static_cast<int>(kSums)), "i"(static_cast<int>(kRows)), "i"(static_cast<int>(kWeights)));
}

/// The same product for words of four signed bytes, in integers of 32 bits.
template <Tile kSums, Tile kRows, Tile kWeights>
inline void addBytes() {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0"
               :
               : "i"(static_cast<int>(kSums)), "i"(static_cast<int>(kRows)), "i"(static_cast<int>(kWeights)));
}

}  // namespace spanscope::cpu
#endif
