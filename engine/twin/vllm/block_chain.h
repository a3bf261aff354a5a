// SPDX-License-Identifier: GPL-3.0-or-later
// The names that vLLM 0.33.0 gives to full blocks with --prefix-caching-hash-algo sha256_cbor: the SHA-256 of
// the canonical CBOR (RFC 8949, section 4.2) of [name of the block before, [tokens], extra keys].
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::twin::vllm {

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

}  // namespace spanscope::twin::vllm
