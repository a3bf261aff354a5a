// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/kv_events.h"

#include "engine/remote/server/message_pack.h"

#include <string_view>
#include <utility>

namespace spanscope::server {
namespace {

void addHashes(MessagePack& pack, const std::vector<std::uint64_t>& hashes) {
  pack.add(std::string_view("block_hashes"));
  pack.beginArray(hashes.size());
  for (const std::uint64_t hash : hashes) pack.add(hash);
}

template <class Value>
void addField(MessagePack& pack, std::string_view key, const std::optional<Value>& value) {
  pack.add(key);
  if (!value)
    pack.addNil();
  else if constexpr (std::is_same_v<Value, std::string>)
    pack.add(std::string_view(*value));
  else
    pack.add(*value);
}

void addEvent(MessagePack& pack, const KvBlocksStored& stored) {
  constexpr std::size_t kFields = 8;
  pack.beginLongMap(kFields);
  pack.add(std::string_view("type"));
  pack.add(std::string_view("BlockStored"));
  addHashes(pack, stored.hashes);
  addField(pack, "parent_block_hash", stored.parent);
  pack.add(std::string_view("token_ids"));
  pack.beginArray(stored.tokens.size());
  for (const TokenId token : stored.tokens) pack.add(std::int64_t{token});
  pack.add(std::string_view("block_size"));
  pack.add(std::int64_t{stored.blockSize});
  addField(pack, "lora_id", stored.loraId);
  addField(pack, "medium", stored.medium);
  addField(pack, "lora_name", stored.loraName);
}

void addEvent(MessagePack& pack, const KvBlocksRemoved& removed) {
  constexpr std::size_t kFields = 3;
  pack.beginMap(kFields);
  pack.add(std::string_view("type"));
  pack.add(std::string_view("BlockRemoved"));
  addHashes(pack, removed.hashes);
  addField(pack, "medium", removed.medium);
}

void addEvent(MessagePack& pack, const KvCleared& /*cleared*/) {
  pack.beginMap(1);
  pack.add(std::string_view("type"));
  pack.add(std::string_view("AllBlocksCleared"));
}

}  // namespace

std::string packed(const KvBatch& batch) {
  MessagePack pack;
  pack.beginArray(3);
  pack.add(batch.time);
  pack.beginArray(batch.events.size());
  for (const KvEvent& event : batch.events) std::visit([&](const auto& own) { addEvent(pack, own); }, event);
  if (batch.rank)
    pack.add(*batch.rank);
  else
    pack.addNil();
  return pack.bytes();
}

std::vector<KvEvent> KvEventForm::take(const trace::Event& event) {
  if (const auto* block = std::get_if<trace::BlockStored>(&event.payload)) {
    stored(*block);
    return {};
  }
  if (const auto* block = std::get_if<trace::BlockRemoved>(&event.payload)) {
    removed(*block);
    return {};
  }
  if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
    m_copies.clear();
    m_waiting.emplace_back(std::in_place_type<KvCleared>);
    return std::exchange(m_waiting, {});
  }
  const bool isEnd = std::holds_alternative<trace::BatchComputed>(event.payload) ||
                     std::holds_alternative<trace::RunFinished>(event.payload);
  return isEnd ? std::exchange(m_waiting, {}) : std::vector<KvEvent>();
}

void KvEventForm::stored(const trace::BlockStored& block) {
  if (static_cast<std::int32_t>(block.tokens.size()) != m_blockSize) return;
  if (m_copies[block.key.low]++ > 0) return;
  const std::optional<std::uint64_t> parent =
      block.virtualIndex > 0 ? std::optional(block.parent.low) : std::nullopt;
  if (!m_waiting.empty()) {
    auto* last = std::get_if<KvBlocksStored>(&m_waiting.back());
    if (last != nullptr && parent && last->hashes.back() == *parent) {
      last->hashes.push_back(block.key.low);
      last->tokens.insert(last->tokens.end(), block.tokens.begin(), block.tokens.end());
      return;
    }
  }
  auto& made = std::get<KvBlocksStored>(m_waiting.emplace_back(std::in_place_type<KvBlocksStored>));
  made.hashes.push_back(block.key.low);
  made.parent = parent;
  made.tokens = block.tokens;
  made.blockSize = m_blockSize;
}

void KvEventForm::removed(const trace::BlockRemoved& block) {
  // Those that go with the whole cache are told of at once.
  if (block.reason == trace::RemovalReason::Cleared) return;
  const auto found = m_copies.find(block.key.low);
  if (found == m_copies.end() || --found->second > 0) return;
  m_copies.erase(found);
  if (!m_waiting.empty()) {
    if (auto* last = std::get_if<KvBlocksRemoved>(&m_waiting.back()))
      return last->hashes.push_back(block.key.low);
  }
  auto& made = std::get<KvBlocksRemoved>(m_waiting.emplace_back(std::in_place_type<KvBlocksRemoved>));
  made.hashes.push_back(block.key.low);
}

}  // namespace spanscope::server
