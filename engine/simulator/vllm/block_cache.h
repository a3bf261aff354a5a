// SPDX-License-Identifier: GPL-3.0-or-later
// Simulates the rules of vLLM 0.33.0 that decide about cache hits. The simulated model has one group of
// layers with full attention, and prefix caching is on. Open this file to compare with vLLM.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/simulator/tracing/cache_tracer.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace spanscope::simulator::vllm {

// The hashes of full blocks in vLLM 0.33.0 with --prefix-caching-hash-algo sha256_cbor. A hash is the SHA-256
// of canonical CBOR (RFC 8949, section 4.2). The CBOR contains [hash of the previous block, [tokens], extra
// keys].

using BlockName = Sha256Value;

/// Returns the hash that precedes the first block: the hash of vLLM's fixed text "vllm-none-hash".
BlockName standardRoot();

struct Adapter {
  std::string name;
  std::string path;
};

/// A picture or another medium. The tokens of the medium are at [begin, begin + count) of the prompt.
struct Medium {
  std::string id;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// Distinguishes blocks with the same tokens. All blocks have the adapter as a key. Blocks with tokens of a
/// medium have the id of the medium and its offset from the block. The first block has the salt.
struct ExtraKeys {
  std::optional<Adapter> adapter;
  std::vector<Medium> media;  ///< in prompt order, without overlap
  std::string salt;           ///< empty: none
};

/// Returns the hash of a full block. `begin`: the position of its first token in the prompt.
BlockName blockName(const BlockName& parent, std::span<const TokenId> tokens, const ExtraKeys& extra,
                    std::int64_t begin);

/// The tokens of a request and the hashes of its full blocks.
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

/// The free blocks of a pool in allocation order. Memory grows with the blocks that were allocated, not with
/// the pool. The order is:
/// - blocks that were freed without a hash, the last freed block first;
/// - blocks that were never allocated, by number;
/// - blocks with a hash, the first freed block first.
class BlockQueue {
 public:
  /// Blocks 1 … blockCount − 1 are free. `blockCount`: at least 1.
  explicit BlockQueue(BlockId blockCount) : m_end(blockCount) {}

  std::int64_t size() const;
  /// Number of free blocks without a hash.
  std::int64_t blanks() const { return static_cast<std::int64_t>(m_first.size()) + (m_end - m_fresh); }
  /// Allocates the next block. At least one block must be free.
  BlockId take();
  /// Allocates a block that was freed with a hash.
  void takeOut(BlockId block);
  /// Frees blocks without a hash. The first of these blocks is allocated next.
  void giveBackFirst(std::span<const BlockId> blocks);
  void giveBackLast(BlockId block);

 private:
  std::vector<BlockId> m_first;  ///< the next block to allocate is the last element
  BlockId m_fresh = 1;           ///< blocks from this number to m_end were never allocated
  BlockId m_end;
  std::map<std::uint64_t, BlockId> m_last;  ///< by the time of freeing
  std::unordered_map<BlockId, std::uint64_t> m_times;
  std::uint64_t m_now = 0;
};

/// Consecutive blocks of one chain that lookups can find from now on.
struct Stored {
  std::vector<BlockName> names;
  std::optional<BlockName> parent;  ///< nothing: the first block begins a prompt
  std::vector<TokenId> tokens;
};
/// A block that lookups can no longer find, because it gets another content.
struct Removed {
  BlockName name;
};
/// Lookups can no longer find any block.
struct Cleared {};
using CacheEvent = std::variant<Stored, Removed, Cleared>;

struct Admission {
  std::int64_t cached = 0;  ///< tokens of the hits; also set if the request is refused
  bool isRefused = false;   ///< there are too few free blocks
  std::vector<BlockId> hitBlocks;
  std::vector<BlockId> newBlocks;
};

class BlockCache {
 public:
  /// `blockSize`: tokens, at least 1. `blockCount`: number of blocks including the null block, at least 1.
  BlockCache(std::int32_t blockSize, BlockId blockCount, const BlockName& root);

  /// Admits or refuses a request. The whole prompt of an admitted request then counts as computed. `prompt`
  /// has at least one token, and no request with this name is running.
  Admission admit(const std::string& request, std::vector<TokenId> prompt, ExtraKeys extra);
  /// Appends a token to a running request, and computes it. Returns the new blocks. Returns nothing if the
  /// token is refused. The request is then freed.
  std::optional<std::vector<BlockId>> decode(const std::string& request, TokenId token);
  /// Ends a request. Does nothing if no such request is running.
  void free(const std::string& request);
  /// Drops everything. Returns false and does nothing while a block is in use.
  bool reset();

  bool runs(const std::string& request) const { return m_requests.contains(request); }
  /// Returns hashes of the full blocks of a running request.
  const std::vector<BlockName>& names(const std::string& request) const;
  std::int64_t freeBlocks() const { return m_free.size(); }
  /// Number of free blocks without a hash. Only the allocation of further blocks evicts contents.
  std::int64_t blankBlocks() const { return m_free.blanks(); }
  bool knows(const BlockName& name) const { return m_byName.contains(name); }
  std::int32_t blockSize() const { return m_blockSize; }
  /// Returns the events since the last call.
  std::vector<CacheEvent> takeEvents();
  CacheShape shape() const { return {.blockSize = m_blockSize, .blocks = std::int64_t{m_blockCount} - 1}; }
  /// Sends later events to `observer`. Null: no events.
  void watch(CacheObserver* observer) { m_observer = observer; }

 private:
  struct Block {
    std::int32_t users = 0;
    std::optional<BlockName> name;
  };
  struct Running {
    BlockChain chain;
    std::vector<BlockId> blocks;
    std::size_t stored = 0;  ///< number of the request's blocks with hashes
  };
  struct NameHash {
    std::size_t operator()(const BlockName& name) const noexcept;
  };

  std::int64_t blocksFor(std::size_t tokens) const;
  std::vector<BlockId> findPrefix(const BlockChain& chain) const;
  Block& at(BlockId block);
  /// Allocates blocks for `tokens` tokens. There must be enough free blocks.
  std::vector<BlockId> grow(const std::string& request, Running& running, std::size_t tokens);
  void storeFullBlocks(const std::string& request, Running& running);
  void traceLookup(const std::string& request, const BlockChain& chain,
                   const std::vector<BlockId>& found) const;
  trace::BlockKey parentKey(const BlockChain& chain, std::size_t block) const;

  std::int32_t m_blockSize;
  BlockId m_blockCount;
  BlockName m_root;
  BlockQueue m_free;
  std::vector<Block> m_blocks;  ///< All blocks that were allocated at least once.
  /// The blocks with a hash, in the order in which they got the hash. A lookup finds the first block.
  std::unordered_map<BlockName, std::vector<BlockId>, NameHash> m_byName;
  std::map<std::string, Running> m_requests;
  std::vector<CacheEvent> m_events;
  CacheObserver* m_observer = nullptr;
};

}  // namespace spanscope::simulator::vllm
