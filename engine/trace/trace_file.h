// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes trace files. A file has events in compressed chunks with checksums, and an index at the
// end. Open this file first when you work with trace files.
#pragma once

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spanscope::trace {

/// The description of a trace file in its header.
struct TraceHeader {
  std::string program;         ///< name and version of the program that recorded it
  std::int64_t createdAt = 0;  ///< milliseconds since 1970, UTC; 0: unknown
  bool operator==(const TraceHeader&) const = default;
};

struct TraceWriteOptions {
  std::uint32_t eventsPerChunk = 4096;               ///< a chunk ends with this many events,
  std::uint32_t bytesPerChunk = 1U << 20;            ///< or with this many bytes before compression,
  std::int64_t nanosecondsPerChunk = 1'000'000'000;  ///< or before an event that is this much later than its
                                                     ///< first
  int compressionLevel = 3;                          ///< of zstd
};

/// The limits of a reader. Beyond them, it throws Failure.
struct TraceLimits {
  std::uint64_t chunkBytes = 1ULL << 28;   ///< one chunk before compression; also the writer's limit
  std::uint64_t memoryBytes = 1ULL << 32;  ///< max memory of the events of one call
};

/// Makes a trace's bytes and passes them to `output` in order. Functions pass on the exceptions of `output`.
/// They throw Failure for an event that cannot be written, which is left out and changes nothing. Its
/// sequence number or time is below that of the event before it, or it takes more than
/// TraceLimits::chunkBytes.
class TraceEncoder {
 public:
  using Output = std::function<void(std::span<const std::uint8_t>)>;

  TraceEncoder(Output output, const TraceHeader& header, const TraceWriteOptions& options = {});
  ~TraceEncoder();
  TraceEncoder(TraceEncoder&&) noexcept;
  TraceEncoder& operator=(TraceEncoder&&) noexcept;

  void append(const Event& event);
  void flush();   ///< ends the chunk, so that all appended events have been passed on
  void finish();  ///< index and trailer; nothing may be appended after it

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Records into a file, by the rules of OutputFile. A file with the final name is always complete. Without
/// finish() nothing remains. The ".part" file of a killed program can be read up to its last whole chunk.
/// Throws Failure that names the file if it cannot be written. After that, the object can only be destroyed.
class TraceWriter {
 public:
  TraceWriter(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options = {});
  TraceWriter(std::filesystem::path path, const TraceHeader& header, const TraceWriteOptions& options = {});
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void append(const Event& event);  ///< as TraceEncoder::append
  void flush();
  void finish();   ///< completes the file, syncs it to the disk and gives it its name, replacing an older one
  void discard();  ///< removes what was written
  const std::filesystem::path& partPath() const;  ///< where the events are until finish()

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// A whole trace.
struct TraceFile {
  TraceHeader header;
  std::vector<Event> events;    ///< sequence numbers and times never decrease
  std::vector<Error> warnings;  ///< for an incomplete recording: the data that could not be read
};

/// Writes all events at once. After Failure no new file remains, and an older one with this name is
/// unchanged.
void writeTrace(const std::filesystem::path& path, std::span<const Event> events,
                const TraceHeader& header = {}, const TraceWriteOptions& options = {});
std::vector<std::uint8_t> traceBytes(std::span<const Event> events, const TraceHeader& header = {},
                                     const TraceWriteOptions& options = {});

/// Reads a whole file. Damage in a finished file is a Failure that names the place ("byte 24", "chunk 3"). A
/// file without its end is read up to the last whole chunk, with a warning. `name` is the name of the file in
/// errors.
TraceFile readTrace(const std::filesystem::path& path, const TraceLimits& limits = {});
TraceFile readTrace(std::span<const std::uint8_t> bytes, std::string name, const TraceLimits& limits = {});

/// Reads parts of a trace: events from anywhere. Opening reads only the index. Without an index, it reads the
/// headers and checksums of all chunks. For one thread at a time.
class TraceReader {
 public:
  /// Throws Failure for a file that is no trace.
  explicit TraceReader(const std::filesystem::path& path, const TraceLimits& limits = {});
  TraceReader(std::vector<std::uint8_t> bytes, std::string name, const TraceLimits& limits = {});
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  const TraceHeader& header() const;
  const std::vector<Error>& warnings() const;
  std::uint64_t eventCount() const;
  std::uint64_t firstSequence() const;  ///< 0: no events
  std::uint64_t lastSequence() const;

  /// Returns at most `limit` events, from the first one whose number is not below `sequence`. Throws Failure
  /// for damage.
  std::vector<Event> eventsFrom(std::uint64_t sequence, std::size_t limit);

  /// Returns the whole trace.
  TraceFile readAll();

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::trace
