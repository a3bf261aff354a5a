// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/event_codec.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_format.h"

#include <algorithm>
#include <utility>

namespace spanscope::trace {

// ---- TraceEncoder
// ----------------------------------------------------------------------------------------------

struct TraceEncoder::Impl {
  Output output;
  TraceWriteOptions options;
  std::uint64_t offset = 0;
  std::vector<IndexEntry> index;
  ByteWriter chunk;
  EventCursor cursor;  ///< last event
  RecordHeader open;   ///< header of the unfinished chunk; count 0: no such chunk
  bool finished = false;
  bool broken = false;  ///< the output failed in the middle of a record

  void put(std::span<const std::uint8_t> bytes) {
    const bool wasBroken = std::exchange(broken, true);
    if (wasBroken)
      throw Failure(Error{"", "", "a recording that has failed", "a recording without an error"});
    output(bytes);
    broken = false;
    offset += bytes.size();
  }

  void putRecord(RecordHeader header, std::span<const std::uint8_t> raw) {
    const std::vector<std::uint8_t> stored = compressRecord(raw, options.compressionLevel);
    header.rawBytes = static_cast<std::uint32_t>(raw.size());
    header.storedBytes = static_cast<std::uint32_t>(stored.size());
    if (header.kind == RecordKind::Chunk) {
      index.push_back(IndexEntry{header.kind, offset, header.count, header.firstSequence, header.lastSequence,
                                 header.firstTime, header.lastTime});
    }
    put(encodeRecordHeader(header, stored));
    put(stored);
  }

  void endChunk() {
    if (open.count == 0) return;
    open.lastSequence = cursor.sequence;
    open.lastTime = cursor.time;
    putRecord(std::exchange(open, RecordHeader{}), chunk.bytes());
    chunk.bytes().clear();
  }

  void startChunk(const Event& event) {
    open = RecordHeader{};
    open.firstSequence = event.sequence;
    open.firstTime = event.time;
  }
};

TraceEncoder::TraceEncoder(Output output, const TraceHeader& header, const TraceWriteOptions& options)
    : m_impl(std::make_unique<Impl>()) {
  Impl& impl = *m_impl;
  impl.output = std::move(output);
  impl.options = options;
  ByteWriter preamble;
  for (const std::uint8_t byte : kTraceMagic) preamble.byte(byte);
  preamble.fixed(kTraceVersion);
  preamble.fixed(std::uint32_t{0});
  preamble.fixed(schemaFingerprint());
  impl.put(preamble.bytes());
  ByteWriter content;
  writeValue(content, header);
  RecordHeader record;
  record.kind = RecordKind::Header;
  impl.putRecord(record, content.bytes());
}

TraceEncoder::~TraceEncoder() = default;
TraceEncoder::TraceEncoder(TraceEncoder&&) noexcept = default;
TraceEncoder& TraceEncoder::operator=(TraceEncoder&&) noexcept = default;

void TraceEncoder::append(const Event& event) {
  Impl& impl = *m_impl;
  const auto refuse = [&event](std::string found, std::string expected) {
    throw Failure(
        Error{"", "event " + std::to_string(event.sequence), std::move(found), std::move(expected)});
  };
  if (impl.finished) refuse("an event after the end", "no more events");
  if (event.sequence == 0) refuse("sequence number 0", "numbers from 1");
  if (event.sequence < impl.cursor.sequence) {
    refuse("a sequence number below the previous one", "at least " + std::to_string(impl.cursor.sequence));
  }
  if (event.time < impl.cursor.time) {
    refuse("a time of " + std::to_string(event.time), "at least " + std::to_string(impl.cursor.time));
  }
  const bool late =
      impl.open.count != 0 && event.time - impl.open.firstTime >= impl.options.nanosecondsPerChunk;
  if (late) impl.endChunk();

  // The encoding of an event depends on the previous event in its chunk.
  EventCursor cursor = impl.open.count == 0 ? EventCursor{event.sequence, event.time} : impl.cursor;
  const std::size_t before = impl.chunk.bytes().size();
  encodeEvent(impl.chunk, cursor, event);
  const std::size_t size = impl.chunk.bytes().size() - before;
  const std::uint64_t limit = TraceLimits().chunkBytes;
  if (size > limit) {
    impl.chunk.bytes().resize(before);
    refuse(std::to_string(size) + " bytes", "at most " + std::to_string(limit));
  }
  if (impl.chunk.bytes().size() > limit) {
    impl.chunk.bytes().resize(before);
    impl.endChunk();
    cursor = EventCursor{event.sequence, event.time};
    encodeEvent(impl.chunk, cursor, event);
  }
  if (impl.open.count == 0) impl.startChunk(event);
  ++impl.open.count;
  impl.cursor = cursor;
  if (impl.open.count >= impl.options.eventsPerChunk ||
      impl.chunk.bytes().size() >= impl.options.bytesPerChunk) {
    impl.endChunk();
  }
}

void TraceEncoder::flush() {
  m_impl->endChunk();
}

void TraceEncoder::finish() {
  Impl& impl = *m_impl;
  if (impl.finished) return;
  impl.endChunk();
  impl.finished = true;
  ByteWriter content;
  writeValue(content, impl.index);
  const std::uint64_t offset = impl.offset;
  RecordHeader record;
  record.kind = RecordKind::Index;
  impl.putRecord(record, content.bytes());
  ByteWriter trailer;
  trailer.fixed(offset);
  for (const std::uint8_t byte : kTraceEnd) trailer.byte(byte);
  impl.put(trailer.bytes());
}

// ---- TraceWriter
// -----------------------------------------------------------------------------------------------

struct TraceWriter::Impl {
  Impl(OutputFile output, const TraceHeader& header, const TraceWriteOptions& options)
      : file(std::move(output)),
        encoder([this](std::span<const std::uint8_t> bytes) { file.write(bytes); }, header, options) {}

  OutputFile file;
  TraceEncoder encoder;
  bool ended = false;
};

TraceWriter::TraceWriter(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options)
    : m_impl(std::make_unique<Impl>(std::move(file), header, options)) {}

TraceWriter::TraceWriter(std::filesystem::path path, const TraceHeader& header,
                         const TraceWriteOptions& options)
    : TraceWriter(OutputFile(std::move(path)), header, options) {}

TraceWriter::~TraceWriter() = default;

void TraceWriter::append(const Event& event) {
  try {
    m_impl->encoder.append(event);
  } catch (const Failure& failure) {
    Error error = failure.error();
    if (error.file.empty()) error.file = m_impl->file.path().string();
    throw Failure(std::move(error));
  }
}

void TraceWriter::flush() {
  m_impl->encoder.flush();
}

void TraceWriter::finish() {
  if (m_impl->ended) return;
  m_impl->encoder.finish();
  m_impl->file.commit();
  m_impl->ended = true;
}

void TraceWriter::discard() {
  m_impl->ended = true;
  m_impl->file.discard();
}

const std::filesystem::path& TraceWriter::partPath() const {
  return m_impl->file.partPath();
}

void writeTrace(const std::filesystem::path& path, std::span<const Event> events, const TraceHeader& header,
                const TraceWriteOptions& options) {
  TraceWriter writer(path, header, options);
  for (const Event& event : events) writer.append(event);
  writer.finish();
}

std::vector<std::uint8_t> traceBytes(std::span<const Event> events, const TraceHeader& header,
                                     const TraceWriteOptions& options) {
  std::vector<std::uint8_t> bytes;
  TraceEncoder encoder(
      [&bytes](std::span<const std::uint8_t> more) { bytes.insert(bytes.end(), more.begin(), more.end()); },
      header, options);
  for (const Event& event : events) encoder.append(event);
  encoder.finish();
  return bytes;
}

}  // namespace spanscope::trace
