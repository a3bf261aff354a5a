// SPDX-License-Identifier: GPL-3.0-or-later
// What happens in the cache of a twin while it serves, block by block, for those who want to show it. A block
// is what the server keeps and finds as a whole: a block of vLLM, a page of SGLang, a cell of llama.cpp.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace spanscope::twin {

/// How the room of a twin is divided.
struct CacheShape {
  std::int32_t blockSize = 1;  ///< tokens of a block
  std::int64_t blocks = 0;     ///< without a null block; 0: as many as are needed
  bool operator==(const CacheShape&) const = default;
};

/// A block that is found further back than it is wanted.
struct MovedBlock {
  BlockId block = kNullBlock;
  std::int32_t from = 0;  ///< its place in the sequence in which it was kept, in blocks
};

/// What was found of a prompt, from its first block on.
struct PromptLookup {
  std::span<const TokenId> prompt;
  std::span<const trace::BlockKey> keys;  ///< of its full blocks, each of the beginning up to its end
  trace::BlockKey root;                   ///< of the empty beginning
  std::vector<BlockId> found;             ///< at their places
  std::vector<MovedBlock> moved;          ///< behind them
  std::size_t kept = 0;                   ///< blocks that are there as wanted, those that are found included
  bool usesCache = true;                  ///< false: nothing was looked for
};

/// Blocks are numbered from 1. All calls are made in the order in which things happen; what names a request
/// is said of one that was looked up and has not ended.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  /// A request is taken in. What is found of it follows as shared(), what is not as taken().
  virtual void lookedUp(const std::string& request, const PromptLookup& lookup) = 0;
  virtual void admitted(const std::string& request) = 0;
  /// It is not: nothing else is said of it.
  virtual void refused(const std::string& request) = 0;
  /// A token of the reply was sampled. Blocks for it follow when it is computed.
  virtual void sampled(const std::string& request, TokenId token) = 0;
  /// One more user of a block that was found, for block `index` of the request.
  virtual void shared(const std::string& request, BlockId block, std::size_t index) = 0;
  /// A block that nobody uses, and that cannot be found, is taken.
  virtual void taken(const std::string& request, BlockId block, std::size_t index) = 0;
  /// A block can be found from now on, or at another place than before.
  virtual void stored(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key, const trace::BlockKey& parent,
                      std::span<const TokenId> tokens) = 0;
  /// A block cannot be found any more; the request may be empty.
  virtual void removed(const std::string& request, BlockId block, trace::RemovalReason reason) = 0;
  /// One user fewer.
  virtual void released(const std::string& request, BlockId block) = 0;
  /// What stands in a block was copied to host memory.
  virtual void savedToHost(const std::string& request, BlockId block) = 0;
  /// A block that has just been taken got what was kept in host memory.
  virtual void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                              const trace::BlockKey& key) = 0;
};

/// Keys of the full blocks of a sequence of tokens whose beginning is `root`.
std::vector<trace::BlockKey> chainKeys(const trace::BlockKey& root, std::span<const TokenId> tokens,
                                       std::size_t blockSize);
/// The root of what has this name: of a salt or the like.
trace::BlockKey rootKey(std::string_view name);

/// Gives numbers to blocks where a server has none of its own: first those that were given back last, then
/// such as nobody has had.
class BlockNumbers {
 public:
  BlockId take();
  void giveBack(BlockId block) { m_free.push_back(block); }

 private:
  std::vector<BlockId> m_free;
  BlockId m_next = 1;
};

/// Has a cache watched as long as it lives.
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

}  // namespace spanscope::twin
