// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors format: 8 bytes little-endian with the length of the header, a JSON header that says for
// every tensor its type, shape and place, then the data. Checked completely before anything of it is used.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::checkpoint {

inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;  ///< bytes; the format's own limit
inline constexpr std::size_t kMaxSafetensorsRank = 64;

struct SafetensorsTensor {
  std::string typeName;                ///< as the file spells it: "BF16", "I64", …
  std::optional<compute::DType> type;  ///< absent for types that no weight can have here
  std::vector<std::uint64_t> shape;    ///< outermost first; empty for a scalar
  std::span<const std::byte> data;     ///< within the bytes that were parsed
};

struct SafetensorsFile {
  std::map<std::string, SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the whole file image `bytes`, which must outlive the result. Throws Failure for anything that does
/// not hold: a header longer than the file, wrong JSON, a name twice, an unknown type, a shape whose size is
/// not that of its data, data outside the file, overlapping, or with gaps. `source` names the file in errors.
SafetensorsFile parseSafetensors(std::span<const std::byte> bytes, const std::string& source);

/// "[2048, 128]".
std::string shapeText(const std::vector<std::uint64_t>& shape);

}  // namespace spanscope::checkpoint
