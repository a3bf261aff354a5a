// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the bytes of a trace file, for the writer and the reader. Open this file to change the file format.
// All numbers are little endian. A file has these sections:
// - preamble: 8 bytes magic, u32 version, u32 reserved (0), u64 schema fingerprint;
// - header, a record of kind Header: a TraceHeader;
// - records: chunks with consecutive events; older files also have keyframes, which the reader skips;
// - index, a record of kind Index: a list of IndexEntry, one for each chunk and keyframe;
// - trailer: u64 offset of the index record, 8 bytes end magic.
//
// A record is a record header and its content, compressed as one zstd frame with its content size. The
// checksum of a record covers the other fields of the header and the stored bytes. The reader therefore
// detects every changed bit.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/binary_codec.h"
#include "engine/trace/trace_file.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct ZSTD_DCtx_s;  // of zstd

namespace spanscope::trace {

inline constexpr std::array<std::uint8_t, 8> kTraceMagic{0x89, 'S', 'P', 'T', 'R', 'C', '\r', '\n'};
inline constexpr std::array<std::uint8_t, 8> kTraceEnd{'S', 'P', 'T', 'R', 'E', 'N', 'D', '\n'};
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr std::size_t kPreambleBytes = 24;
inline constexpr std::size_t kTrailerBytes = 16;

enum class RecordKind : std::uint8_t { Header, Chunk, Keyframe, Index };
SPANSCOPE_NAMES(RecordKind, "header", "chunk", "keyframe", "index");

struct RecordHeader {
  static constexpr std::size_t kBytes = 56;

  RecordKind kind = RecordKind::Chunk;  ///< u32
  std::uint32_t count = 0;              ///< events in a chunk
  std::uint64_t firstSequence = 0;  ///< of the first event of a chunk, or of the last event before a keyframe
  std::uint64_t lastSequence = 0;   ///< of the last event of a chunk, or of the last event before a keyframe
  std::int64_t firstTime = 0;
  std::int64_t lastTime = 0;
  std::uint32_t rawBytes = 0;
  std::uint32_t storedBytes = 0;
  std::uint64_t checksum = 0;
};

/// One chunk or keyframe in the index: its offset, and its header without sizes and checksum.
struct IndexEntry {
  RecordKind kind = RecordKind::Chunk;
  std::uint64_t offset = 0;  ///< offset of the record in the file
  std::uint32_t count = 0;
  std::uint64_t firstSequence = 0;
  std::uint64_t lastSequence = 0;
  std::int64_t firstTime = 0;
  std::int64_t lastTime = 0;
  bool operator==(const IndexEntry&) const = default;
};
SPANSCOPE_FIELDS(IndexEntry, kind, offset, count, firstSequence, lastSequence, firstTime, lastTime);

/// Returns the bytes of the header, with the checksum of header and content.
std::array<std::uint8_t, RecordHeader::kBytes> encodeRecordHeader(RecordHeader header,
                                                                  std::span<const std::uint8_t> stored);

/// Reads the fixed fields. Throws Failure for an invalid kind. The place of the Failure is the field.
RecordHeader decodeRecordHeader(std::span<const std::uint8_t> bytes);

std::uint64_t recordChecksum(const RecordHeader& header, std::span<const std::uint8_t> stored);

/// Returns one zstd frame with its content size.
std::vector<std::uint8_t> compressRecord(std::span<const std::uint8_t> raw, int level);

/// Reverses compressRecord(). Reuses its working memory for the next record.
class RecordDecompressor {
 public:
  RecordDecompressor();

  /// Returns exactly `rawBytes` bytes. Throws Failure if the frame is damaged or has another content size.
  /// Allocates memory only after this check.
  std::vector<std::uint8_t> decompress(std::span<const std::uint8_t> stored, std::uint32_t rawBytes);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> m_context;
};

SPANSCOPE_FIELDS(TraceHeader, program, createdAt);

}  // namespace spanscope::trace
