// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a cache simulator while it serves requests, block by block. A block is the server's unit of
// caching: a block of vLLM, a page of SGLang, a cell of llama.cpp. Open this file to add an event.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace spanscope::simulator {

/// The number and size of the blocks of a simulator.
struct CacheShape {
  std::int32_t blockSize = 1;  ///< tokens of a block
  std::int64_t blocks = 0;     ///< without a null block; 0: unlimited
  bool operator==(const CacheShape&) const = default;
};

/// A cached block at a later place than the requested one.
struct MovedBlock {
  BlockId block = kNullBlock;
  std::int32_t from = 0;  ///< index of the block in its stored sequence
};

/// The result of the lookup of a prompt.
struct PromptLookup {
  std::span<const TokenId> prompt;
  /// Keys of the full blocks of the prompt. Each key covers the prefix up to the end of the block.
  std::span<const trace::BlockKey> keys;
  trace::BlockKey root;           ///< key of the empty prefix
  std::vector<BlockId> found;     ///< hits, in the order of the prompt
  std::vector<MovedBlock> moved;  ///< the relocated blocks after the hits
  std::size_t kept = 0;           ///< number of blocks of the prompt in the cache, including hits
  bool usesCache = true;          ///< false: there was no lookup
};

/// Receives the events of a cache. Block numbers begin at 1. Calls come in the order of the events. A request
/// name is valid from the lookup of the request to its end.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  /// A request is admitted. The hits of the request follow as shared(), the misses as taken().
  virtual void lookedUp(const std::string& request, const PromptLookup& lookup) = 0;
  virtual void admitted(const std::string& request) = 0;
  /// The request is refused. No other event of this request follows.
  virtual void refused(const std::string& request) = 0;
  /// A token of the answer was sampled. Events about its blocks follow when the token is computed.
  virtual void sampled(const std::string& request, TokenId token) = 0;
  /// A block that is a hit gets one more user, as block `index` of the request.
  virtual void shared(const std::string& request, BlockId block, std::size_t index) = 0;
  /// A block without users and without a findable content is allocated.
  virtual void taken(const std::string& request, BlockId block, std::size_t index) = 0;
  /// Lookups can find the block from now on, or can find the block at another place than before.
  virtual void stored(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key, const trace::BlockKey& parent,
                      std::span<const TokenId> tokens) = 0;
  /// Lookups can no longer find the block. The name of the request may be empty.
  virtual void removed(const std::string& request, BlockId block, trace::RemovalReason reason) = 0;
  /// A block has one user fewer.
  virtual void released(const std::string& request, BlockId block) = 0;
  /// The content of a block was copied to host memory.
  virtual void savedToHost(const std::string& request, BlockId block) = 0;
  /// A newly allocated block got a content from host memory.
  virtual void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                              const trace::BlockKey& key) = 0;
};

/// Returns keys of the full blocks of a token sequence that begins at `root`.
std::vector<trace::BlockKey> chainKeys(const trace::BlockKey& root, std::span<const TokenId> tokens,
                                       std::size_t blockSize);
/// Returns the root of a salt or another name.
trace::BlockKey rootKey(std::string_view name);

/// Allocates block numbers for a server without block numbers. Freed numbers are allocated first, in reverse
/// order of freeing. Then new numbers follow.
class BlockNumbers {
 public:
  BlockId take();
  void giveBack(BlockId block) { m_free.push_back(block); }

 private:
  std::vector<BlockId> m_free;
  BlockId m_next = 1;
};

/// Observes a cache during its lifetime.
template <class Cache>
class Watching {
 public:
  Watching(Cache& cache, CacheObserver* observer) : m_cache(cache) { m_cache.watch(observer); }
  ~Watching() { m_cache.watch(nullptr); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  Watching(Watching&&) = delete;
  Watching& operator=(Watching&&) = delete;

 private:
  Cache& m_cache;
};

}  // namespace spanscope::simulator
