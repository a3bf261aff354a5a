// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace spanscope::twin::llama_cpp {

using Tokens = std::vector<TokenId>;

/// Number of tokens with which both begin.
std::size_t commonBeginning(std::span<const TokenId> one, std::span<const TokenId> other);

/// Bytes of the state of a sequence as llama-server keeps it in host memory.
struct StateSize {
  std::uint64_t fixed = 0;
  std::uint64_t perToken = 0;
};

/// The prompts that llama-server keeps in host memory (--cache-ram) beside those in its slots. The oldest
/// goes first when there is no room.
class PromptStore {
 public:
  /// `mostBytes`: 0: any number. `mostTokens`: raised to what fits into `mostBytes`.
  PromptStore(std::uint64_t mostBytes, std::uint64_t mostTokens, StateSize size)
      : m_mostBytes(mostBytes), m_mostTokens(mostTokens), m_size(size) {}

  /// Keeps a copy of the tokens of a slot, unless they are the beginning of tokens that it holds, or are too
  /// many. What it holds that is the beginning of the new tokens goes. Gives whether it has kept them.
  bool save(const Tokens& tokens);
  /// Puts what it holds in place of the tokens of a slot if more of that is the beginning of `wanted`, as a
  /// share of `wanted` and as a share of itself, and at least a quarter of itself.
  /// Without room for it, `room` tokens, the slot loses what it has and gets nothing. Gives whether the
  /// slot has others now.
  bool load(Tokens& tokens, std::span<const TokenId> wanted, std::size_t room);
  /// Drops the oldest until the rest fits.
  void fit();

 private:
  std::uint64_t bytesOf(const Tokens& tokens) const;
  std::uint64_t bytes() const;
  std::uint64_t tokens() const;

  std::uint64_t m_mostBytes;
  std::uint64_t m_mostTokens;
  StateSize m_size;
  std::list<Tokens> m_states;  ///< the oldest first
};

}  // namespace spanscope::twin::llama_cpp
