// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the types that identify tokens, blocks, runs, requests, steps and nodes in the whole engine. Open
// this file to add such a type.
#pragma once

#include <cstdint>
#include <string>

namespace spanscope {

/// Index of a token in a checkpoint's vocabulary, 0 … vocabulary size − 1.
using TokenId = std::int32_t;

/// Index of a physical block in the KV pool. Block 0 is the null block, which is never allocated and never
/// cached.
using BlockId = std::int32_t;
inline constexpr BlockId kNullBlock = 0;

/// Counts the runs of a session from 1. A run is one execution of a query.
using RunId = std::uint32_t;

/// Counts the requests of a session from 1. A request is one prompt with its generated tokens.
using RequestId = std::uint32_t;

/// Index of a generation step in its plan.
using StepIndex = std::uint32_t;

/// The place of a node in its query. A path is the JSON pointer (RFC 6901) of the operator object in the
/// canonical form. The root is "". The second child of a cross under a generate node is "/g/input/cross/1".
using NodePath = std::string;

}  // namespace spanscope
