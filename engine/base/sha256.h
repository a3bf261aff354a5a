// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace spanscope {

using Sha256Value = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of the bytes, by OpenSSL: where another program's names are made that use it. Throws
/// std::runtime_error if the library refuses, e.g. because memory is short.
Sha256Value sha256(std::span<const std::uint8_t> bytes);

}  // namespace spanscope
