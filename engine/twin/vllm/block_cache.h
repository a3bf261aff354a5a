// SPDX-License-Identifier: GPL-3.0-or-later
// The KV cache of vLLM 0.33.0 as far as it decides what is found: one group of layers with full attention,
// prefix caching on.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/twin/telling/cache_observer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace spanscope::twin::vllm {

// The names that vLLM 0.33.0 gives to full blocks with --prefix-caching-hash-algo sha256_cbor: the SHA-256 of
// the canonical CBOR (RFC 8949, section 4.2) of [name of the block before, [tokens], extra keys].

using BlockName = Sha256Value;

/// What stands before the first block: the name of the text that the server uses unless it was given another.
BlockName standardRoot();

struct Adapter {
  std::string name;
  std::string path;
};

/// A picture or another medium whose tokens stand at [begin, begin + count) of the prompt.
struct Medium {
  std::string id;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// What tells blocks of the same tokens apart. All blocks have the adapter, those with tokens of a medium
/// have its id and where it begins, counted from the block; the first block has the salt.
struct ExtraKeys {
  std::optional<Adapter> adapter;
  std::vector<Medium> media;  ///< in their order, none inside another
  std::string salt;           ///< empty: none
};

/// The tokens of a request and the names of its full blocks.
class BlockChain {
 public:
  /// `blockSize`: tokens, at least 1.
  BlockChain(std::int32_t blockSize, const BlockName& root, ExtraKeys extra, std::vector<TokenId> tokens);

  void append(TokenId token);
  const std::vector<TokenId>& tokens() const { return m_tokens; }
  const std::vector<BlockName>& names() const { return m_names; }
  std::span<const TokenId> tokensOf(std::size_t block) const;

 private:
  void nameFullBlocks();

  std::size_t m_blockSize;
  BlockName m_root;
  ExtraKeys m_extra;
  std::vector<TokenId> m_tokens;
  std::vector<BlockName> m_names;
};

/// The free blocks of a pool in the order in which they are taken: first those that were given back without a
/// name, the last one first; then those that nobody has taken yet, by number; then those with a name, the one
/// that was given back first first. Memory grows with the blocks that were taken, not with the pool.
class BlockQueue {
 public:
  /// Blocks 1 … blockCount − 1 are free. `blockCount`: at least 1.
  explicit BlockQueue(BlockId blockCount) : m_end(blockCount) {}

  std::int64_t size() const;
  /// The next block; there must be one.
  BlockId take();
  /// Takes a block that was given back with a name.
  void takeOut(BlockId block);
  /// Gives blocks back without a name; the first of them is the next to be taken.
  void giveBackFirst(std::span<const BlockId> blocks);
  void giveBackLast(BlockId block);

 private:
  std::vector<BlockId> m_first;  ///< the next one to be taken is the last element
  BlockId m_fresh = 1;           ///< blocks from here to m_end were never taken
  BlockId m_end;
  std::map<std::uint64_t, BlockId> m_last;  ///< by the time of giving back
  std::unordered_map<BlockId, std::uint64_t> m_times;
  std::uint64_t m_now = 0;
};

/// Blocks that can be found from now on, one after the other in one chain.
struct Stored {
  std::vector<BlockName> names;
  std::optional<BlockName> parent;  ///< none: the first of them begins a prompt
  std::vector<TokenId> tokens;
};
/// A block that cannot be found any more, because it is used for something else.
struct Removed {
  BlockName name;
};
/// No block can be found any more.
struct Cleared {};
using CacheEvent = std::variant<Stored, Removed, Cleared>;

struct Admission {
  std::int64_t cached = 0;  ///< tokens that are found, even if the request is refused
  bool isRefused = false;   ///< there are too few free blocks
  std::vector<BlockId> hitBlocks;
  std::vector<BlockId> newBlocks;
};

class BlockCache {
 public:
  /// `blockSize`: tokens, at least 1. `blockCount`: with the null block, at least 1.
  BlockCache(std::int32_t blockSize, BlockId blockCount, const BlockName& root);

  /// Takes a request in, unless it is refused; its whole prompt then counts as computed. `prompt` has at
  /// least one token, and no request of this name runs.
  Admission admit(const std::string& request, std::vector<TokenId> prompt, ExtraKeys extra);
  /// Appends a token to a request that runs, and computes it. Gives the blocks that are taken for it; none at
  /// all if it is refused, and then the request has been freed.
  std::optional<std::vector<BlockId>> decode(const std::string& request, TokenId token);
  /// Does nothing if no such request runs.
  void free(const std::string& request);
  /// Forgets everything. It does nothing and gives false while a block is in use.
  bool reset();

  bool runs(const std::string& request) const { return m_requests.contains(request); }
  /// Names of the full blocks of a request that runs.
  const std::vector<BlockName>& names(const std::string& request) const;
  std::int64_t freeBlocks() const { return m_free.size(); }
  bool knows(const BlockName& name) const { return m_byName.contains(name); }
  std::int32_t blockSize() const { return m_blockSize; }
  /// What has happened since the last call.
  std::vector<CacheEvent> takeEvents();
  CacheShape shape() const { return {.blockSize = m_blockSize, .blocks = std::int64_t{m_blockCount} - 1}; }
  /// Has everything told that happens from now on; null: nothing more.
  void watch(CacheObserver* observer) { m_observer = observer; }

 private:
  struct Block {
    std::int32_t users = 0;
    std::optional<BlockName> name;
  };
  struct Running {
    BlockChain chain;
    std::vector<BlockId> blocks;
    std::size_t stored = 0;  ///< so many of its blocks have names
  };
  struct NameHash {
    std::size_t operator()(const BlockName& name) const noexcept;
  };

  std::int64_t blocksFor(std::size_t tokens) const;
  std::vector<BlockId> findPrefix(const BlockChain& chain) const;
  Block& at(BlockId block);
  /// Takes blocks for `tokens` tokens; there are enough.
  std::vector<BlockId> grow(const std::string& request, Running& running, std::size_t tokens);
  void storeFullBlocks(const std::string& request, Running& running);
  void tellLookup(const std::string& request, const BlockChain& chain,
                  const std::vector<BlockId>& found) const;
  trace::BlockKey parentKey(const BlockChain& chain, std::size_t block) const;

  std::int32_t m_blockSize;
  BlockId m_blockCount;
  BlockName m_root;
  BlockQueue m_free;
  std::vector<Block> m_blocks;  ///< those that were ever taken
  /// The blocks of a name, in the order in which they got it; the first is the one that is found.
  std::unordered_map<BlockName, std::vector<BlockId>, NameHash> m_byName;
  std::map<std::string, Running> m_requests;
  std::vector<CacheEvent> m_events;
  CacheObserver* m_observer = nullptr;
};

}  // namespace spanscope::twin::vllm
