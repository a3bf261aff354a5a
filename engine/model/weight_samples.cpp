// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weight_samples.h"

namespace spanscope::model {

void addSamples(Digest& digest, std::span<const std::byte> data) {
  constexpr std::size_t kWhole = 8192;
  constexpr std::size_t kPiece = 256;
  constexpr std::size_t kPieces = 16;
  if (data.size() <= kWhole) {
    digest.add(data);
    return;
  }
  const std::size_t last = data.size() - kPiece;
  for (std::size_t i = 0; i < kPieces; ++i) digest.add(data.subspan(last * i / (kPieces - 1), kPiece));
}

}  // namespace spanscope::model
