// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/kv_events.h"

#include <bit>
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

std::size_t countOf(bool isPresent) {
  return isPresent ? 1 : 0;
}

void addExtraKeys(MessagePack& pack, const std::vector<KvExtraKeys>& blocks) {
  pack.add(std::string_view("extra_keys"));
  pack.beginArray(blocks.size());
  for (const KvExtraKeys& keys : blocks) {
    if (!keys) {
      pack.addNil();
      continue;
    }
    pack.beginArray(keys->size());
    for (const std::string& key : *keys) pack.add(std::string_view(key));
  }
}

void addEvent(MessagePack& pack, const KvBlocksStored& stored) {
  constexpr std::size_t kFields = 8;
  pack.beginLongMap(kFields + countOf(stored.extraKeys.has_value()) + countOf(stored.group.has_value()) +
                    countOf(stored.kind.has_value()));
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
  if (stored.extraKeys) addExtraKeys(pack, *stored.extraKeys);
  if (stored.group) addField(pack, "group_idx", stored.group);
  if (stored.kind) addField(pack, "kv_cache_spec_kind", stored.kind);
}

void addEvent(MessagePack& pack, const KvBlocksRemoved& removed) {
  constexpr std::size_t kFields = 3;
  pack.beginMap(kFields + countOf(removed.group.has_value()));
  pack.add(std::string_view("type"));
  pack.add(std::string_view("BlockRemoved"));
  addHashes(pack, removed.hashes);
  addField(pack, "medium", removed.medium);
  if (removed.group) addField(pack, "group_idx", removed.group);
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
    stored(*block, event.run);
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
  const bool isLast = std::holds_alternative<trace::RunFinished>(event.payload);
  if (isLast) {
    const std::lock_guard lock(m_mutex);
    m_extraKeys.erase(event.run);
  }
  const bool isEnd = isLast || std::holds_alternative<trace::BatchComputed>(event.payload);
  return isEnd ? std::exchange(m_waiting, {}) : std::vector<KvEvent>();
}

void KvEventForm::setExtraKey(RunId run, std::string key) {
  const std::lock_guard lock(m_mutex);
  m_extraKeys[run] = std::move(key);
}

KvExtraKeys KvEventForm::extraKeysOf(RunId run) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_extraKeys.find(run);
  return found == m_extraKeys.end() ? KvExtraKeys() : KvExtraKeys({found->second});
}

void KvEventForm::stored(const trace::BlockStored& block, RunId run) {
  if (static_cast<std::int32_t>(block.tokens.size()) != m_blockSize) return;
  if (m_copies[block.key.low]++ > 0) return;
  const std::optional<std::uint64_t> parent =
      block.virtualIndex > 0 ? std::optional(block.parent.low) : std::nullopt;
  if (!m_waiting.empty()) {
    auto* last = std::get_if<KvBlocksStored>(&m_waiting.back());
    if (last != nullptr && parent && last->hashes.back() == *parent) {
      last->hashes.push_back(block.key.low);
      last->extraKeys->emplace_back();
      last->tokens.insert(last->tokens.end(), block.tokens.begin(), block.tokens.end());
      return;
    }
  }
  auto& made = std::get<KvBlocksStored>(m_waiting.emplace_back(std::in_place_type<KvBlocksStored>));
  made.hashes.push_back(block.key.low);
  made.parent = parent;
  made.tokens = block.tokens;
  made.blockSize = m_blockSize;
  made.extraKeys.emplace().push_back(parent ? KvExtraKeys() : extraKeysOf(run));
  made.group = 0;
  made.kind = kFullAttention;
}

void KvEventForm::removed(const trace::BlockRemoved& block) {
  // Blocks that are removed with the whole cache are reported together.
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
  made.group = 0;
}

void MessagePack::bigEndian(std::uint64_t value, int count) {
  constexpr int kByteBits = 8;
  for (int i = count - 1; i >= 0; --i) byte(value >> static_cast<unsigned>(i * kByteBits));
}

void MessagePack::beginArray(std::size_t size) {
  if (size < 16) return byte(0x90U + size);
  byte(size <= 0xFFFF ? 0xDC : 0xDD);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginMap(std::size_t size) {
  if (size < 16) return byte(0x80U + size);
  byte(size <= 0xFFFF ? 0xDE : 0xDF);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginLongMap(std::size_t size) {
  byte(0xDE);
  bigEndian(size, 2);
}

void MessagePack::add(std::string_view text) {
  const std::size_t size = text.size();
  if (size < 32) {
    byte(0xA0U + size);
  } else {
    byte(size <= 0xFF ? 0xD9 : size <= 0xFFFF ? 0xDA : 0xDB);
    bigEndian(size, size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : 4);
  }
  m_bytes += text;
}

void MessagePack::add(std::uint64_t number) {
  if (number < 0x80) return byte(number);
  const int bytes = number <= 0xFF ? 0 : number <= 0xFFFF ? 1 : number <= 0xFFFFFFFF ? 2 : 3;
  byte(0xCCU + static_cast<unsigned>(bytes));
  bigEndian(number, 1 << bytes);
}

void MessagePack::add(std::int64_t number) {
  if (number >= 0) return add(static_cast<std::uint64_t>(number));
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= -32) return byte(bits);
  const int bytes = number >= -0x80 ? 0 : number >= -0x8000 ? 1 : number >= -0x80000000LL ? 2 : 3;
  byte(0xD0U + static_cast<unsigned>(bytes));
  bigEndian(bits, 1 << bytes);
}

void MessagePack::add(double number) {
  byte(0xCB);
  bigEndian(std::bit_cast<std::uint64_t>(number), 8);
}

void MessagePack::addNil() {
  byte(0xC0);
}

}  // namespace spanscope::server
