// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors format: 8 bytes with the length of the header, little-endian; a JSON header with the type,
// shape and place of every tensor; then the data. The whole file is checked before anything in it is used.
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
  std::optional<compute::DType> type;  ///< absent for types that a weight cannot have here
  std::vector<std::uint64_t> shape;    ///< outermost first; empty for a scalar
  std::span<const std::byte> data;     ///< points into the parsed bytes
};

struct SafetensorsFile {
  std::map<std::string, SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses the whole file image `bytes`, which must outlive the result. Throws Failure for a header longer
/// than the file, wrong JSON, a name that occurs twice, an unknown type, a shape whose size is not that of
/// its data, and data that is outside of the file, overlaps or leaves gaps. `source` is the name of the file
/// in errors.
SafetensorsFile parseSafetensors(std::span<const std::byte> bytes, const std::string& source);

/// The shape as text: "[2048, 128]".
std::string shapeText(const std::vector<std::uint64_t>& shape);

}  // namespace spanscope::checkpoint
