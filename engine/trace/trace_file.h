// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes trace files. A file has compressed chunks of events with checksums, and an index at the
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
  std::uint32_t eventsPerChunk = 4096;     ///< max events of a chunk
  std::uint32_t bytesPerChunk = 1U << 20;  ///< A chunk ends after this many bytes before compression.
  /// A chunk ends before an event that is this much later than the chunk's first event.
  std::int64_t nanosecondsPerChunk = 1'000'000'000;
  int compressionLevel = 3;  ///< of zstd
};

/// The limits of a reader. The reader throws Failure if a limit is exceeded.
struct TraceLimits {
  std::uint64_t chunkBytes = 1ULL << 28;   ///< one chunk before compression; also the writer's limit
  std::uint64_t memoryBytes = 1ULL << 32;  ///< max memory of the events of one call
};

/// Encodes a trace and passes the bytes to `output` in order. Functions pass on the exceptions of `output`.
/// append() throws Failure and changes nothing if an event cannot be written. Reasons are a sequence number
/// or time below that of the previous event, or more than TraceLimits::chunkBytes bytes.
class TraceEncoder {
 public:
  using Output = std::function<void(std::span<const std::uint8_t>)>;

  TraceEncoder(Output output, const TraceHeader& header, const TraceWriteOptions& options = {});
  ~TraceEncoder();
  TraceEncoder(TraceEncoder&&) noexcept;
  TraceEncoder& operator=(TraceEncoder&&) noexcept;

  void append(const Event& event);
  void flush();   ///< ends the chunk, so that all appended events have reached `output`
  void finish();  ///< writes index and trailer; afterwards, nothing may be appended

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Records events into a file, by the rules of OutputFile. A file with the final name is always complete.
/// Without finish(), no file remains. The ".part" file of a killed program can be read up to its last whole
/// chunk. If the file cannot be written, functions throw Failure with its name. After a Failure, the object
/// can only be destroyed.
class TraceWriter {
 public:
  TraceWriter(OutputFile file, const TraceHeader& header, const TraceWriteOptions& options = {});
  TraceWriter(std::filesystem::path path, const TraceHeader& header, const TraceWriteOptions& options = {});
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  void append(const Event& event);  ///< see TraceEncoder::append
  void flush();
  void finish();   ///< completes the file, syncs it to the disk, and replaces an older file with the final
                   ///< name
  void discard();  ///< removes the file
  const std::filesystem::path& partPath() const;  ///< path of the file until finish()

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// A whole trace.
struct TraceFile {
  TraceHeader header;
  std::vector<Event> events;    ///< sequence numbers and times never decrease
  std::vector<Error> warnings;  ///< for an incomplete recording: the parts that could not be read
};

/// Writes a whole trace to a file. After a Failure, no new file remains, and an older file with this name is
/// unchanged.
void writeTrace(const std::filesystem::path& path, std::span<const Event> events,
                const TraceHeader& header = {}, const TraceWriteOptions& options = {});
std::vector<std::uint8_t> traceBytes(std::span<const Event> events, const TraceHeader& header = {},
                                     const TraceWriteOptions& options = {});

/// Reads a whole file. For damage in a finished file, throws a Failure that names the place ("byte 24",
/// "chunk 3"). A file without its end is read up to the last whole chunk, with a warning. `name` is the name
/// of the file in errors.
TraceFile readTrace(const std::filesystem::path& path, const TraceLimits& limits = {});
TraceFile readTrace(std::span<const std::uint8_t> bytes, std::string name, const TraceLimits& limits = {});

/// Reads events from any place in a trace. Opening reads only the index. Without an index, opening reads the
/// headers and checksums of all chunks. Not thread-safe.
class TraceReader {
 public:
  /// Throws Failure if the file is not a trace.
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
  /// if the file is damaged.
  std::vector<Event> eventsFrom(std::uint64_t sequence, std::size_t limit);

  /// Returns the whole trace.
  TraceFile readAll();

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::trace
