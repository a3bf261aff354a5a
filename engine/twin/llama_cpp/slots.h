// SPDX-License-Identifier: GPL-3.0-or-later
// The slots of llama-server (llama.cpp 0c1e57098) with a model whose layers all have full attention: which
// one a request gets, and what of its prompt is found there.
#pragma once

#include "engine/base/ids.h"
#include "engine/twin/telling/cache_observer.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
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

struct ServerSettings {
  std::int32_t slots = 1;          ///< -np
  std::int32_t chunk = 0;          ///< --cache-reuse: least tokens of a run that is moved; 0: none is moved
  std::int32_t hostMebibytes = 0;  ///< --cache-ram; 0: off, below 0: as much as is needed
  std::int32_t context = 0;        ///< -c: tokens of all slots together
  float similarity = 0.1F;         ///< --slot-prompt-similarity; 0: off
  bool savesIdle = true;           ///< --cache-idle-slots
  bool isUnified = false;          ///< --kv-unified: slots share their room
  StateSize stateSize{};
};

struct Completion {
  std::span<const TokenId> prompt;      ///< at least one token
  std::span<const TokenId> reply;       ///< as sampled
  bool usesCache = true;                ///< cache_prompt
  std::optional<std::int32_t> slot{};   ///< id_slot; modulo the number of slots
  std::optional<std::int32_t> chunk{};  ///< n_cache_reuse, in place of the setting
  std::string name{};                   ///< for whoever watches
  bool isBeside = false;  ///< the slots of those before it are still busy, as they were for those
};

struct Completed {
  std::int32_t slot = 0;
  bool isRefused = false;     ///< the prompt does not fit into the slot
  std::int32_t found = 0;     ///< tokens at the beginning of the prompt that the slot holds
  std::int32_t moved = 0;     ///< tokens behind them that are moved there
  std::int32_t computed = 0;  ///< the rest; at least 1
  bool isKeptWhole = false;   ///< the last token, too, was found or moved, but is computed all the same
  std::int32_t before = 0;    ///< tokens in the slot as the prompt came to it
  std::int32_t common = 0;    ///< of these, the beginning that the prompt has too
  std::int32_t held = 0;      ///< tokens in the slot afterwards
};

/// Requests are served one after the other, or beside each other in slots of their own. Where all slots are
/// busy, a request waits until those before it have ended.
class Slots {
 public:
  explicit Slots(const ServerSettings& settings);

  Completed complete(const Completion& request);

  /// A block is a cell, which holds one token.
  CacheShape shape() const;
  /// Has everything told that happens from now on; null: nothing more. The server numbers cells otherwise.
  void watch(CacheObserver* observer) { m_observer = observer; }

 private:
  struct Slot {
    Tokens tokens;
    std::vector<BlockId> cells;  ///< one a token
    std::int64_t lastUsed = -1;  ///< by the clock m_now; −1: never
    bool isBusy = false;
  };

  std::size_t choose(const Completion& request, bool& losesMuch) const;
  /// Whether it was kept.
  bool save(const Slot& slot, const std::string& request);
  void load(Slot& slot, const Completion& request, std::size_t room);
  void saveIdle(std::size_t chosen, const std::string& request);
  /// Clears idle slots until the tokens of the chosen slot fit beside them.
  void makeRoom(std::size_t chosen, const std::string& request);
  void clear(Slot& slot, const std::string& request);
  /// Gives a cell back that can be found.
  void drop(BlockId cell, const std::string& request);
  /// Brings the cells of a slot to what it holds now, of which it had `found` tokens and behind them those at
  /// `moved`.
  void fill(std::size_t chosen, const Completion& request, std::size_t found,
            const std::vector<std::size_t>& moved, bool isKeptWhole);

  ServerSettings m_settings;
  std::int32_t m_slotRoom = 0;  ///< tokens of a slot
  std::vector<Slot> m_slots;
  std::optional<PromptStore> m_store;
  std::int64_t m_now = 0;
  BlockNumbers m_numbers;
  CacheObserver* m_observer = nullptr;
};

}  // namespace spanscope::twin::llama_cpp
