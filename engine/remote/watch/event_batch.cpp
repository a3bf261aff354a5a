// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/event_batch.h"

#include "engine/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace spanscope::watch {

namespace {

constexpr int kDeepest = 32;  // levels of nested values

std::string hexByte(std::uint8_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[byte >> 4U] + kDigits[byte & 15U];
}

}  // namespace

void MessagePackReader::refuse(std::size_t place, const std::string& found,
                               const std::string& expected) const {
  throw Failure(
      {.file = "KV events", .place = "byte " + std::to_string(place), .found = found, .expected = expected});
}

MessagePackReader::Kind MessagePackReader::next() const {
  if (isAtEnd()) refuse(m_at, "the end of the message", "a value");
  const auto head = static_cast<std::uint8_t>(m_bytes[m_at]);
  if (head < 0x80 || head >= 0xE0 || (head >= 0xCC && head <= 0xD3)) return Kind::Integer;
  if (head < 0x90 || head == 0xDE || head == 0xDF) return Kind::Map;
  if (head < 0xA0 || head == 0xDC || head == 0xDD) return Kind::Array;
  if (head < 0xC0 || (head >= 0xD9 && head <= 0xDB)) return Kind::Text;
  if (head == 0xC0) return Kind::Nil;
  if (head == 0xC2 || head == 0xC3) return Kind::Boolean;
  if (head >= 0xC4 && head <= 0xC6) return Kind::Bytes;
  if (head == 0xCA || head == 0xCB) return Kind::Number;
  return Kind::Other;
}

std::string_view MessagePackReader::take(std::size_t count) {
  if (count > m_bytes.size() - m_at)
    refuse(m_at, std::to_string(m_bytes.size() - m_at) + " bytes to the end of the message",
           "at least " + std::to_string(count));
  const std::string_view taken = m_bytes.substr(m_at, count);
  m_at += count;
  return taken;
}

std::uint8_t MessagePackReader::byte() {
  return static_cast<std::uint8_t>(take(1).front());
}

std::uint64_t MessagePackReader::bigEndian(std::size_t count) {
  std::uint64_t value = 0;
  for (const char part : take(count)) value = value << 8U | static_cast<std::uint8_t>(part);
  return value;
}

std::size_t MessagePackReader::elements(std::size_t count, std::size_t each) {
  if (count > (m_bytes.size() - m_at) / each)
    refuse(m_at, std::to_string(count) + " elements in " + std::to_string(m_bytes.size() - m_at) + " bytes",
           "at least one byte per value");
  return count;
}

std::size_t MessagePackReader::array() {
  const std::size_t place = m_at;
  const std::uint8_t head = byte();
  if (head >= 0x90 && head < 0xA0) return elements(head & 15U, 1);
  if (head == 0xDC) return elements(bigEndian(2), 1);
  if (head == 0xDD) return elements(bigEndian(4), 1);
  refuse(place, hexByte(head), "an array");
}

std::size_t MessagePackReader::map() {
  const std::size_t place = m_at;
  const std::uint8_t head = byte();
  if (head >= 0x80 && head < 0x90) return elements(head & 15U, 2);
  if (head == 0xDE) return elements(bigEndian(2), 2);
  if (head == 0xDF) return elements(bigEndian(4), 2);
  refuse(place, hexByte(head), "a map");
}

std::int64_t MessagePackReader::integer() {
  const std::size_t place = m_at;
  const std::uint8_t head = byte();
  if (head < 0x80) return head;
  if (head >= 0xE0) return static_cast<std::int8_t>(head);
  if (head >= 0xCC && head <= 0xCF)
    return std::bit_cast<std::int64_t>(bigEndian(std::size_t{1} << (head - 0xCCU)));
  switch (head) {
    case 0xD0:
      return static_cast<std::int8_t>(bigEndian(1));
    case 0xD1:
      return static_cast<std::int16_t>(bigEndian(2));
    case 0xD2:
      return static_cast<std::int32_t>(bigEndian(4));
    case 0xD3:
      return std::bit_cast<std::int64_t>(bigEndian(8));
    default:
      refuse(place, hexByte(head), "an integer");
  }
}

double MessagePackReader::number() {
  if (next() != Kind::Number) return static_cast<double>(integer());
  if (byte() == 0xCB) return std::bit_cast<double>(bigEndian(8));
  return std::bit_cast<float>(static_cast<std::uint32_t>(bigEndian(4)));
}

std::string_view MessagePackReader::text() {
  const std::size_t place = m_at;
  const std::uint8_t head = byte();
  if (head >= 0xA0 && head < 0xC0) return take(head & 31U);
  if (head >= 0xD9 && head <= 0xDB) return take(bigEndian(std::size_t{1} << (head - 0xD9U)));
  if (head >= 0xC4 && head <= 0xC6) return take(bigEndian(std::size_t{1} << (head - 0xC4U)));
  refuse(place, hexByte(head), "a text");
}

bool MessagePackReader::nil() {
  if (next() != Kind::Nil) return false;
  ++m_at;
  return true;
}

void MessagePackReader::skip(int depth) {
  if (depth > kDeepest)
    refuse(m_at, "deeply nested values", "at most " + std::to_string(kDeepest) + " levels");
  switch (next()) {
    case Kind::Nil:
    case Kind::Boolean:
      ++m_at;
      return;
    case Kind::Integer:
      integer();
      return;
    case Kind::Number:
      number();
      return;
    case Kind::Text:
    case Kind::Bytes:
      text();
      return;
    case Kind::Array:
      for (std::size_t left = array(); left > 0; --left) skip(depth + 1);
      return;
    case Kind::Map:
      for (std::size_t left = 2 * map(); left > 0; --left) skip(depth + 1);
      return;
    case Kind::Other:
      break;
  }
  const std::size_t place = m_at;
  const std::uint8_t head = byte();
  if (head >= 0xC7 && head <= 0xC9) {
    take(bigEndian(std::size_t{1} << (head - 0xC7U)));
    take(1);
  } else if (head >= 0xD4 && head <= 0xD8) {
    take((std::size_t{1} << (head - 0xD4U)) + 1);
  } else {
    refuse(place, hexByte(head), "a MessagePack value");
  }
}

void MessagePackReader::skip() {
  skip(0);
}

namespace {

using Kind = MessagePackReader::Kind;

std::uint64_t hashIn(MessagePackReader& reader) {
  if (reader.next() == Kind::Integer) return static_cast<std::uint64_t>(reader.integer());
  const std::string_view bytes = reader.text();
  constexpr std::size_t kBytes = sizeof(std::uint64_t);
  std::uint64_t hash = 0;
  for (const char part : bytes.substr(bytes.size() - std::min(bytes.size(), kBytes)))
    hash = hash << 8U | static_cast<std::uint8_t>(part);
  return hash;
}

template <class Number>
Number boundedIn(MessagePackReader& reader, std::int64_t least, const char* what) {
  const std::size_t place = reader.position();
  const std::int64_t value = reader.integer();
  if (value < least || value > std::numeric_limits<Number>::max())
    reader.refuse(place, std::to_string(value), what);
  return static_cast<Number>(value);
}

/// Returns any value as text, e.g. "a", "3" or "(image, 16)".
std::string anyText(MessagePackReader& reader, int depth = 0) {
  switch (reader.next()) {
    case Kind::Integer:
      return std::to_string(reader.integer());
    case Kind::Text:
    case Kind::Bytes:
      return std::string(reader.text());
    case Kind::Array: {
      if (depth > kDeepest) break;
      std::string joined = "(";
      for (std::size_t left = reader.array(); left > 0; --left)
        joined += anyText(reader, depth + 1) + (left > 1 ? ", " : "");
      return joined + ")";
    }
    default:
      break;
  }
  const std::size_t begin = reader.position();
  reader.skip();
  return "value of " + std::to_string(reader.position() - begin) + " bytes";
}

std::vector<server::KvExtraKeys> extraKeysIn(MessagePackReader& reader) {
  std::vector<server::KvExtraKeys> blocks;
  for (std::size_t left = reader.array(); left > 0; --left) {
    server::KvExtraKeys& keys = blocks.emplace_back();
    if (reader.nil()) continue;
    keys.emplace();
    for (std::size_t each = reader.array(); each > 0; --each) keys->push_back(anyText(reader));
  }
  return blocks;
}

/// All known fields of all events.
struct Fields {
  std::string_view type;
  std::vector<std::uint64_t> hashes;
  std::optional<std::uint64_t> parent;
  std::vector<TokenId> tokens;
  std::int32_t blockSize = 0;
  std::optional<std::int64_t> loraId;
  std::optional<std::string> medium;
  std::optional<std::string> loraName;
  std::optional<std::vector<server::KvExtraKeys>> extraKeys;
  std::optional<std::int64_t> group;
  std::optional<std::string> kind;
};

using ReadField = void (*)(MessagePackReader&, Fields&);
struct FieldRow {
  std::string_view name;
  ReadField read;  ///< the value is not nil
};

constexpr std::array kFields{
    FieldRow{"type", [](MessagePackReader& reader, Fields& fields) { fields.type = reader.text(); }},
    FieldRow{"block_hashes",
             [](MessagePackReader& reader, Fields& fields) {
               const std::size_t count = reader.array();
               fields.hashes.clear();
               fields.hashes.reserve(count);
               for (std::size_t i = 0; i < count; ++i) fields.hashes.push_back(hashIn(reader));
             }},
    FieldRow{"parent_block_hash",
             [](MessagePackReader& reader, Fields& fields) { fields.parent = hashIn(reader); }},
    FieldRow{"token_ids",
             [](MessagePackReader& reader, Fields& fields) {
               const std::size_t count = reader.array();
               fields.tokens.clear();
               fields.tokens.reserve(count);
               for (std::size_t i = 0; i < count; ++i)
                 fields.tokens.push_back(boundedIn<TokenId>(reader, std::numeric_limits<TokenId>::min(),
                                                            "the number of a token"));
             }},
    FieldRow{"block_size",
             [](MessagePackReader& reader, Fields& fields) {
               fields.blockSize = boundedIn<std::int32_t>(reader, 1, "a number of tokens, at least 1");
             }},
    FieldRow{"lora_id", [](MessagePackReader& reader, Fields& fields) { fields.loraId = reader.integer(); }},
    FieldRow{"medium", [](MessagePackReader& reader, Fields& fields) { fields.medium = reader.text(); }},
    FieldRow{"lora_name", [](MessagePackReader& reader, Fields& fields) { fields.loraName = reader.text(); }},
    FieldRow{"extra_keys",
             [](MessagePackReader& reader, Fields& fields) { fields.extraKeys = extraKeysIn(reader); }},
    FieldRow{"group_idx", [](MessagePackReader& reader, Fields& fields) { fields.group = reader.integer(); }},
    FieldRow{"kv_cache_spec_kind",
             [](MessagePackReader& reader, Fields& fields) { fields.kind = reader.text(); }},
};

ReadField findField(std::string_view name) {
  const auto* const row = std::ranges::find(kFields, name, &FieldRow::name);
  return row == kFields.end() ? nullptr : row->read;
}

void readField(MessagePackReader& reader, Fields& fields, ReadField read) {
  if (read == nullptr)
    reader.skip();
  else if (!reader.nil())
    read(reader, fields);
}

/// The order of the fields in an event that is an array. Later fields were added at the end.
constexpr std::array<std::string_view, 10> kStoredOrder{
    "block_hashes", "parent_block_hash", "token_ids",  "block_size", "lora_id",
    "medium",       "lora_name",         "extra_keys", "group_idx",  "kv_cache_spec_kind"};
constexpr std::array<std::string_view, 3> kRemovedOrder{"block_hashes", "medium", "group_idx"};

constexpr std::string_view kStored = "BlockStored";
constexpr std::string_view kRemoved = "BlockRemoved";
constexpr std::string_view kCleared = "AllBlocksCleared";

void readArrayEvent(MessagePackReader& reader, Fields& fields) {
  std::size_t left = reader.array();
  if (left == 0) reader.refuse(reader.position(), "an empty event", "an event that begins with its type");
  fields.type = reader.text();
  std::span<const std::string_view> order;
  if (fields.type == kStored) order = kStoredOrder;
  if (fields.type == kRemoved) order = kRemovedOrder;
  for (std::size_t i = 0; --left > 0; ++i)
    readField(reader, fields, i < order.size() ? findField(order[i]) : nullptr);
}

void readMapEvent(MessagePackReader& reader, Fields& fields) {
  for (std::size_t left = reader.map(); left > 0; --left) {
    if (reader.next() != Kind::Text) {
      reader.skip();
      reader.skip();
      continue;
    }
    readField(reader, fields, findField(reader.text()));
  }
}

std::optional<server::KvEvent> readEvent(MessagePackReader& reader) {
  const std::size_t place = reader.position();
  Fields fields;
  reader.next() == Kind::Map ? readMapEvent(reader, fields) : readArrayEvent(reader, fields);
  if (fields.type == kCleared) return server::KvCleared{};
  if (fields.type == kRemoved)
    return server::KvBlocksRemoved{
        .hashes = std::move(fields.hashes), .medium = std::move(fields.medium), .group = fields.group};
  if (fields.type != kStored) {
    if (fields.type.empty()) reader.refuse(place, "an event without a type", "the type of the event");
    return std::nullopt;
  }
  if (fields.blockSize == 0)
    reader.refuse(place, "a BlockStored event without a block size", "a number of tokens, at least 1");
  return server::KvBlocksStored{.hashes = std::move(fields.hashes),
                                .parent = fields.parent,
                                .tokens = std::move(fields.tokens),
                                .blockSize = fields.blockSize,
                                .loraId = fields.loraId,
                                .medium = std::move(fields.medium),
                                .loraName = std::move(fields.loraName),
                                .extraKeys = std::move(fields.extraKeys),
                                .group = fields.group,
                                .kind = std::move(fields.kind)};
}

}  // namespace

server::KvBatch readBatch(std::string_view payload) {
  MessagePackReader reader(payload);
  std::size_t left = reader.array();
  if (left < 2)
    reader.refuse(0, "a batch of " + std::to_string(left) + " values", "a time and a list of events");
  server::KvBatch batch;
  const std::size_t timePlace = reader.position();
  batch.time = reader.number();
  if (!std::isfinite(batch.time))
    reader.refuse(timePlace, "a time that is not a number", "seconds since 1970");
  const std::size_t events = reader.array();
  for (std::size_t i = 0; i < events; ++i) {
    if (std::optional<server::KvEvent> event = readEvent(reader)) batch.events.push_back(std::move(*event));
  }
  batch.rank.reset();
  left -= 2;
  if (left > 0) {
    if (!reader.nil()) batch.rank = reader.integer();
    --left;
  }
  for (; left > 0; --left) reader.skip();
  if (!reader.isAtEnd()) reader.refuse(reader.position(), "bytes after the batch", "the end of the message");
  return batch;
}

}  // namespace spanscope::watch
