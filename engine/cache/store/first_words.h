// SPDX-License-Identifier: GPL-3.0-or-later
// What blocks are told apart by in a list: a few words of their contents.
#pragma once

#include "engine/cache/store/stored_block.h"

#include <span>
#include <string>
#include <string_view>

namespace spanscope::cache {

/// A block and its first words. What is pointed to must outlive it.
struct WordedBlock {
  const StoredFacts* facts = nullptr;
  std::string_view text;  ///< empty: not known
};

/// A few words of each chain that begins among the blocks, as many as a person would read: how it begins, in
/// the order of the blocks. A chain at the beginning of a prompt often begins as all others do: it comes
/// last, and by how it ends. Empty if the words of no block are known.
std::string firstWords(std::span<const WordedBlock> blocks);

}  // namespace spanscope::cache
