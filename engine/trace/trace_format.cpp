// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/trace_format.h"

#include "engine/base/counted.h"
#include "engine/base/hash.h"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace spanscope::trace {

namespace {

constexpr std::size_t kSummedBytes = RecordHeader::kBytes - sizeof(std::uint64_t);

[[noreturn]] void refuse(std::string place, std::string found, std::string expected) {
  throw Failure(Error{"", std::move(place), std::move(found), std::move(expected)});
}

void writeFields(ByteWriter& writer, const RecordHeader& header) {
  writer.fixed(static_cast<std::uint32_t>(header.kind));
  writer.fixed(header.count);
  writer.fixed(header.firstSequence);
  writer.fixed(header.lastSequence);
  writer.fixed(static_cast<std::uint64_t>(header.firstTime));
  writer.fixed(static_cast<std::uint64_t>(header.lastTime));
  writer.fixed(header.rawBytes);
  writer.fixed(header.storedBytes);
}

std::uint64_t sumOf(std::span<const std::uint8_t> headerFields, std::span<const std::uint8_t> stored) {
  return checksum64(stored, checksum64(headerFields, kTraceVersion));
}

}  // namespace

std::uint64_t recordChecksum(const RecordHeader& header, std::span<const std::uint8_t> stored) {
  ByteWriter writer;
  writeFields(writer, header);
  return sumOf(writer.bytes(), stored);
}

std::array<std::uint8_t, RecordHeader::kBytes> encodeRecordHeader(RecordHeader header,
                                                                  std::span<const std::uint8_t> stored) {
  ByteWriter writer;
  writeFields(writer, header);
  writer.fixed(sumOf(std::span(writer.bytes()).first(kSummedBytes), stored));
  std::array<std::uint8_t, RecordHeader::kBytes> bytes{};
  std::ranges::copy(writer.bytes(), bytes.begin());
  return bytes;
}

RecordHeader decodeRecordHeader(std::span<const std::uint8_t> bytes) {
  MemoryBudget none(0);
  ByteReader reader(bytes, none);
  RecordHeader header;
  reader.setField("kind");
  const auto kind = reader.fixed<std::uint32_t>();
  if (kind >= EnumNames<RecordKind>::kNames.size())
    reader.fail(std::to_string(kind), /*id:kind-record*/ "a kind of record");
  header.kind = static_cast<RecordKind>(kind);
  header.count = reader.fixed<std::uint32_t>();
  header.firstSequence = reader.fixed<std::uint64_t>();
  header.lastSequence = reader.fixed<std::uint64_t>();
  header.firstTime = static_cast<std::int64_t>(reader.fixed<std::uint64_t>());
  header.lastTime = static_cast<std::int64_t>(reader.fixed<std::uint64_t>());
  header.rawBytes = reader.fixed<std::uint32_t>();
  header.storedBytes = reader.fixed<std::uint32_t>();
  header.checksum = reader.fixed<std::uint64_t>();
  return header;
}

std::vector<std::uint8_t> compressRecord(std::span<const std::uint8_t> raw, int level) {
  std::vector<std::uint8_t> stored(ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(size) != 0) refuse("", ZSTD_getErrorName(size), "content that can be compressed");
  stored.resize(size);
  return stored;
}

RecordDecompressor::RecordDecompressor() : m_context(ZSTD_createDCtx()) {
  if (!m_context) throw std::bad_alloc();
}

void RecordDecompressor::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

std::vector<std::uint8_t> RecordDecompressor::decompress(std::span<const std::uint8_t> stored,
                                                         std::uint32_t rawBytes) {
  const unsigned long long stated = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (stated == ZSTD_CONTENTSIZE_ERROR || stated == ZSTD_CONTENTSIZE_UNKNOWN) {
    refuse("", /*id:content-not-compressed*/ "content in another compression format",
           /*id:zstd-frame-states*/ "a zstd frame with its content size");
  }
  if (stated != rawBytes) {
    refuse("", "a frame of " + counted(stated, "byte"), counted(rawBytes, "byte"));
  }
  if (ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) {
    refuse("", /*id:frame-not-fill*/ "a frame that does not fill its record",
           /*id:whole-zstd-frame*/ "one whole zstd frame");
  }
  std::vector<std::uint8_t> raw(rawBytes);
  const std::size_t size =
      ZSTD_decompressDCtx(m_context.get(), raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) refuse("", ZSTD_getErrorName(size), "content that can be decompressed");
  if (size != rawBytes) {
    refuse("", counted(size, "byte") + " of content", counted(rawBytes, "byte"));
  }
  return raw;
}

}  // namespace spanscope::trace
