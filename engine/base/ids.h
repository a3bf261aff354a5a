// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers by which the folders of the engine refer to things.
#pragma once

#include <cstdint>
#include <string>

namespace spanscope {

/// Index of a piece in a checkpoint's vocabulary, 0 … vocabulary size − 1.
using TokenId = std::int32_t;

/// Index of a physical block in the KV pool. Block 0 is the null block: never handed out, never cached.
using BlockId = std::int32_t;
inline constexpr BlockId kNullBlock = 0;

/// Counts the runs of a session from 1. A run is one query executed once.
using RunId = std::uint32_t;

/// Counts the requests of a session from 1. A request is one prompt with the tokens generated for it.
using RequestId = std::uint32_t;

/// Index of a generate step in its plan.
using StepIndex = std::uint32_t;

/// Where a node stands in its query: the JSON pointer (RFC 6901) of its operator object in the canonical
/// form. The root is ""; "/g/input/cross/1" is the second child of a cross under a generate.
using NodePath = std::string;

}  // namespace spanscope
