// SPDX-License-Identifier: GPL-3.0-or-later
// The first byte says how the rest is read: as a file; as a file with corrected checksums, so that the code
// after the checks is reached; as the content of one chunk. Accepted traces are replayed, described and
// summarized.
#include "engine/metrics/trace_stats.h"
#include "engine/trace/event_codec.h"
#include "engine/trace/replay.h"
#include "engine/trace/report.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_format.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

using namespace spanscope;
using namespace spanscope::trace;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kMemory = 64U << 20;
constexpr TraceLimits kLimits{.chunkBytes = 4U << 20, .memoryBytes = kMemory};

void must(bool holds) {
  if (!holds) std::abort();
}

void use(std::span<const Event> events) {
  Replay replay;
  for (const Event& event : events) {
    if (!replay.apply(event)) must(!PoolReplay::check(replay.pool().state()));
    must(!describe(event).empty());
  }
  must(!metrics::statsTable(metrics::stats(events)).empty());
  if (!events.empty()) must(!jsonLine(events.back()).empty());
}

/// Preamble, checksums and end as they should be, with anything between them.
void mend(Bytes& bytes) {
  ByteWriter preamble;
  for (const std::uint8_t byte : kTraceMagic) preamble.byte(byte);
  preamble.fixed(kTraceVersion);
  preamble.fixed(std::uint32_t{0});
  static const std::uint64_t kSchema = schemaFingerprint();
  preamble.fixed(kSchema);
  if (bytes.size() < kPreambleBytes) return;
  std::copy(preamble.bytes().begin(), preamble.bytes().end(), bytes.begin());
  std::size_t offset = kPreambleBytes;
  while (bytes.size() - offset >= RecordHeader::kBytes) {
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
    bytes[offset] &= 3;
    std::fill(place + 1, place + 4, std::uint8_t{0});
    const RecordHeader header =
        decodeRecordHeader(std::span<const std::uint8_t>(bytes).subspan(offset, RecordHeader::kBytes));
    const std::size_t left = bytes.size() - offset - RecordHeader::kBytes;
    if (header.storedBytes > left) return;
    const std::span<const std::uint8_t> stored =
        std::span<const std::uint8_t>(bytes).subspan(offset + RecordHeader::kBytes, header.storedBytes);
    const auto encoded = encodeRecordHeader(header, stored);
    std::copy(encoded.begin(), encoded.end(), place);
    offset += RecordHeader::kBytes + header.storedBytes;
  }
}

void readFile(const Bytes& bytes) {
  try {
    const TraceFile file = readTrace(bytes, "fuzz", kLimits);
    use(file.events);
    // What could be read can be written, and reads as the same.
    const Bytes again = traceBytes(file.events, file.header);
    must(readTrace(again, "again", kLimits).events.size() == file.events.size());
  } catch (const Failure& failure) {
    must(!failure.error().expected.empty());
  }
  try {
    TraceReader reader(bytes, "fuzz", kLimits);
    const std::uint64_t last = reader.lastSequence();
    for (const std::uint64_t sequence : {last, last / 2, std::uint64_t{1}, last}) {
      try {
        reader.eventsFrom(sequence, 3);
      } catch (const Failure&) {
        // Damage after the index; the next place may be sound.
      }
    }
  } catch (const Failure& failure) {
    must(!failure.error().file.empty() || !failure.error().expected.empty());
  }
}

void readChunk(std::span<const std::uint8_t> bytes) {
  MemoryBudget budget(kMemory);
  ByteReader reader(bytes, budget);
  std::vector<Event> events;
  EventCursor cursor;
  try {
    while (reader.remaining() > 0) {
      Event event;
      decodeEvent(reader, cursor, event);
      events.push_back(std::move(event));
    }
    ByteWriter writer;
    EventCursor again;
    for (const Event& event : events) encodeEvent(writer, again, event);
    must(std::equal(bytes.begin(), bytes.end(), writer.bytes().begin(), writer.bytes().end()));
  } catch (const Failure&) {
    // What came before is still looked at.
  }
  use(events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Bytes bytes(data + 1, data + size);
  switch (data[0] % 3) {
    case 0:
      readFile(bytes);
      break;
    case 1:
      mend(bytes);
      readFile(bytes);
      break;
    default:
      readChunk(bytes);
      break;
  }
  return 0;
}
