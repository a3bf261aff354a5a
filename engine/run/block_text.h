// SPDX-License-Identifier: GPL-3.0-or-later
// What stands in a block, in a few words for people.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/tokenizer.h"

#include <span>
#include <string>

namespace spanscope::run {

/// The longest text between control pieces, without the role that a chat template writes before it, in one
/// line of at most 64 bytes, cut at a character. Empty if there is no text.
std::string blockText(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens);

}  // namespace spanscope::run
