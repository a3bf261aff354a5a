// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/vllm/block_chain.h"

#include <array>
#include <string_view>
#include <utility>

namespace spanscope::twin::vllm {
namespace {

enum class CborKind : std::uint8_t { Unsigned = 0, Negative = 1, Bytes = 2, Text = 3, Array = 4 };

/// The few kinds of canonical CBOR that names are made of.
class CborText {
 public:
  void addHead(CborKind kind, std::uint64_t number) {
    const auto first = static_cast<std::uint8_t>(static_cast<unsigned>(kind) << 5U);
    if (number < 24) {
      m_bytes.push_back(static_cast<std::uint8_t>(first | number));
      return;
    }
    const unsigned log = number < 0x100 ? 0 : number < 0x10000 ? 1 : number < 0x100000000 ? 2 : 3;
    m_bytes.push_back(static_cast<std::uint8_t>(first | (24 + log)));
    for (unsigned byte = 1U << log; byte-- > 0;)
      m_bytes.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
  }
  void add(std::int64_t number) {
    if (number < 0) {
      addHead(CborKind::Negative, static_cast<std::uint64_t>(-(number + 1)));
    } else {
      addHead(CborKind::Unsigned, static_cast<std::uint64_t>(number));
    }
  }
  void add(std::string_view text) {
    addHead(CborKind::Text, text.size());
    m_bytes.insert(m_bytes.end(), text.begin(), text.end());
  }
  void add(const BlockName& name) {
    addHead(CborKind::Bytes, name.size());
    m_bytes.insert(m_bytes.end(), name.begin(), name.end());
  }
  void addNull() { m_bytes.push_back(0xf6); }

  BlockName name() const { return sha256(m_bytes); }

 private:
  std::vector<std::uint8_t> m_bytes;
};

void addExtraKeys(CborText& text, const ExtraKeys& extra, std::int64_t begin, std::int64_t end) {
  std::vector<const Medium*> media;
  for (const Medium& medium : extra.media)
    if (medium.begin < end && medium.begin + medium.count > begin) media.push_back(&medium);
  const bool hasSalt = begin == 0 && !extra.salt.empty();
  const std::size_t count = (extra.adapter ? 1U : 0U) + media.size() + (hasSalt ? 1U : 0U);
  if (count == 0) {
    text.addNull();
    return;
  }
  text.addHead(CborKind::Array, count);
  if (extra.adapter) {
    text.addHead(CborKind::Array, 3);
    text.add("lora");
    text.add(extra.adapter->name);
    text.add(extra.adapter->path);
  }
  for (const Medium* medium : media) {
    text.addHead(CborKind::Array, 3);
    text.add("mm");
    text.add(medium->id);
    text.add(medium->begin - begin);
  }
  if (hasSalt) {
    text.addHead(CborKind::Array, 2);
    text.add("cache_salt");
    text.add(extra.salt);
  }
}

}  // namespace

BlockName standardRoot() {
  CborText text;
  text.add("vllm-none-hash");
  return text.name();
}

BlockChain::BlockChain(std::int32_t blockSize, const BlockName& root, ExtraKeys extra,
                       std::vector<TokenId> tokens)
    : m_blockSize(static_cast<std::size_t>(blockSize)),
      m_root(root),
      m_extra(std::move(extra)),
      m_tokens(std::move(tokens)) {
  nameFullBlocks();
}

void BlockChain::append(TokenId token) {
  m_tokens.push_back(token);
  nameFullBlocks();
}

std::span<const TokenId> BlockChain::tokensOf(std::size_t block) const {
  return std::span(m_tokens).subspan(block * m_blockSize, m_blockSize);
}

void BlockChain::nameFullBlocks() {
  while ((m_names.size() + 1) * m_blockSize <= m_tokens.size()) {
    const std::size_t begin = m_names.size() * m_blockSize;
    CborText text;
    text.addHead(CborKind::Array, 3);
    text.add(m_names.empty() ? m_root : m_names.back());
    text.addHead(CborKind::Array, m_blockSize);
    for (const TokenId token : tokensOf(m_names.size())) text.add(std::int64_t{token});
    addExtraKeys(text, m_extra, static_cast<std::int64_t>(begin),
                 static_cast<std::int64_t>(begin + m_blockSize));
    m_names.push_back(text.name());
  }
}

}  // namespace spanscope::twin::vllm
