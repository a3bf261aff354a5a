// SPDX-License-Identifier: GPL-3.0-or-later
// Simulates the slots of llama-server (llama.cpp 0c1e57098) with a model whose layers all have full
// attention. The rules choose a slot for a request, and determine the reused tokens of its prompt. Open this
// file to compare with llama-server.
#pragma once

#include "engine/base/ids.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::simulator::llama_cpp {

using Tokens = std::vector<TokenId>;

/// Returns the length of the common prefix.
std::size_t commonBeginning(std::span<const TokenId> one, std::span<const TokenId> other);

/// The bytes of a sequence's state in llama-server's host memory.
struct StateSize {
  std::uint64_t fixed = 0;
  std::uint64_t perToken = 0;
};

/// The prompts that llama-server keeps in host memory (--cache-ram) in addition to its slots. If the space is
/// full, the oldest prompt is dropped first.
class PromptStore {
 public:
  /// `mostBytes`: max bytes; 0 means unlimited. `mostTokens`: max tokens, raised to the number that fits into
  /// `mostBytes`.
  PromptStore(std::uint64_t mostBytes, std::uint64_t mostTokens, StateSize size)
      : m_mostBytes(mostBytes), m_mostTokens(mostTokens), m_size(size) {}

  /// Copies the tokens of a slot. Returns whether the store has kept the tokens. Tokens that are a prefix of
  /// a stored prompt, or too many tokens, are not kept. Stored prompts that are a prefix of the new tokens
  /// are dropped.
  bool save(const Tokens& tokens);
  /// Replaces the tokens of a slot by a stored prompt that has a longer common prefix with `wanted`. The
  /// length is compared as a share of `wanted` and as a share of the stored prompt. The common prefix must be
  /// at least a quarter of the stored prompt. If the stored prompt exceeds `room` tokens, the slot becomes
  /// empty. Returns whether the tokens of the slot changed.
  bool load(Tokens& tokens, std::span<const TokenId> wanted, std::size_t room);
  /// Drops the oldest prompts until the others fit.
  void fit();
  const std::list<Tokens>& states() const { return m_states; }

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
  std::int32_t slots = 1;  ///< -np
  std::int32_t chunk = 0;  ///< --cache-reuse: min length of a relocated token run; 0: nothing is relocated
  std::int32_t hostMebibytes = 0;  ///< --cache-ram; 0: off, below 0: unlimited
  std::int32_t context = 0;        ///< -c: tokens of all slots together
  float similarity = 0.1F;         ///< --slot-prompt-similarity; 0: off
  bool savesIdle = true;           ///< --cache-idle-slots
  bool isUnified = false;          ///< --kv-unified: slots share their space
  StateSize stateSize{};
};

struct Completion {
  std::span<const TokenId> prompt;      ///< at least one token
  std::span<const TokenId> answer;      ///< as sampled
  bool usesCache = true;                ///< cache_prompt
  std::optional<std::int32_t> slot{};   ///< id_slot; modulo the number of slots
  std::optional<std::int32_t> chunk{};  ///< n_cache_reuse, which replaces the setting
  std::string name{};                   ///< name for observers
  bool isBeside = false;                ///< the slots of earlier requests are still busy
  std::optional<RequestTimes> times{};  ///< replace isBeside
};

struct Completed {
  std::int32_t slot = 0;
  bool isRefused = false;     ///< the prompt does not fit into the slot
  std::int32_t found = 0;     ///< leading tokens of the prompt that are in the slot
  std::int32_t moved = 0;     ///< later tokens of the prompt that are relocated from another place
  std::int32_t computed = 0;  ///< all other tokens of the prompt; at least 1
  bool isKeptWhole = false;   ///< the last token is also a hit or relocated, but is computed
  std::int32_t before = 0;    ///< tokens in the slot when the prompt arrived
  std::int32_t common = 0;    ///< length of the common prefix of these tokens and the prompt
  std::int32_t held = 0;      ///< tokens in the slot after the request
};

/// Requests are served one after the other, or concurrently in separate slots. If all slots are busy, a
/// request waits until earlier requests have ended.
class Slots {
 public:
  explicit Slots(const ServerSettings& settings);

  Completed complete(const Completion& request);

  /// A block is a cell with one token.
  CacheShape shape() const;
  /// The tokens of every slot, and of every prompt in host memory. Valid until the next request.
  std::vector<const Tokens*> kept() const;
  /// Sends later events to `observer`. Null: no events. The real server has other cell numbers.
  void watch(CacheObserver* observer) { m_observer = observer; }

 private:
  struct Slot {
    Tokens tokens;
    std::vector<BlockId> cells;  ///< one per token
    std::int64_t lastUsed = -1;  ///< by the clock m_now; −1: never
    bool isBusy = false;
    std::int64_t end = 0;  ///< if the request has times: when the slot is free again
  };

  /// Marks the slots of ended requests as free. If the request needs a busy slot, it waits for the slot.
  void freeSlots(const Completion& request);
  std::size_t choose(const Completion& request, bool& losesMuch) const;
  /// Returns whether the slot's tokens were kept.
  bool save(const Slot& slot, const std::string& request);
  void load(Slot& slot, const Completion& request, std::size_t room);
  void saveIdle(std::size_t chosen, const std::string& request);
  /// Clears idle slots until there is space for the tokens of the chosen slot.
  void makeRoom(std::size_t chosen, const std::string& request);
  void clear(Slot& slot, const std::string& request);
  /// Releases a cell whose content lookups can find.
  void drop(BlockId cell, const std::string& request);
  /// Updates the cells of a slot to its new tokens. The slot had the first `found` of these tokens, and the
  /// next tokens at the indices `moved`.
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

}  // namespace spanscope::simulator::llama_cpp
