// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the safetensors format. The whole file is checked before anything in it is used. Open this file when
// a safetensors file is refused. The file has three sections:
// - 8 bytes with the length of the header, little-endian;
// - a JSON header with the type, shape and place of every tensor;
// - the data.
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
  std::string typeName;                ///< the spelling of the file: "BF16", "I64", …
  std::optional<compute::DType> type;  ///< absent for types that a weight cannot have here
  std::vector<std::uint64_t> shape;    ///< outermost first; empty for a scalar
  std::span<const std::byte> data;     ///< points into the parsed bytes
};

struct SafetensorsFile {
  std::map<std::string, SafetensorsTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Parses the whole file image `bytes`, which must outlive the result. `source` is the name of the file in
/// errors. Throws Failure in these cases:
/// - The header is longer than the file, or wrong JSON.
/// - A name occurs twice, or a type is unknown.
/// - A shape does not have the size of its data.
/// - Data is outside of the file, overlaps or leaves gaps.
SafetensorsFile parseSafetensors(std::span<const std::byte> bytes, const std::string& source);

/// Returns the shape as text: "[2048, 128]".
std::string shapeText(const std::vector<std::uint64_t>& shape);

}  // namespace spanscope::checkpoint
