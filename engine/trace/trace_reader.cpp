// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/trace/event_codec.h"
#include "engine/trace/trace_file.h"
#include "engine/trace/trace_format.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::trace {

namespace {

/// A file, or bytes in memory, with reads at any offset.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path) : m_name(path.string()) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      throw Failure(Error{m_name, "", error ? error.message() : "a path that is not a file", "a trace file"});
    }
    m_file.open(path, std::ios::binary);
    m_size = std::filesystem::file_size(path, error);
    if (!m_file || error) {
      throw Failure(
          Error{m_name, "", error ? error.message() : "a file that cannot be opened", "a trace file"});
    }
  }
  ByteSource(std::vector<std::uint8_t> bytes, std::string name)
      : m_name(std::move(name)), m_bytes(std::move(bytes)), m_size(m_bytes.size()) {}

  const std::string& name() const { return m_name; }
  std::uint64_t size() const { return m_size; }

  /// Reads `count` bytes. The range must be within size().
  std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t count) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    if (!m_file.is_open()) {
      std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, bytes.begin());
      return bytes;
    }
    m_file.clear();
    m_file.seekg(static_cast<std::streamoff>(offset));
    m_file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(m_file.gcount()) != count) {
      throw Failure(Error{m_name, "byte " + std::to_string(offset), "bytes that cannot be read",
                          counted(count, "byte")});
    }
    return bytes;
  }

 private:
  std::string m_name;
  std::vector<std::uint8_t> m_bytes;
  std::ifstream m_file;
  std::uint64_t m_size = 0;
};

struct Record {
  RecordHeader header;
  std::vector<std::uint8_t> stored;
};

}  // namespace

struct TraceReader::Impl {
  Impl(ByteSource byteSource, const TraceLimits& readLimits)
      : source(std::move(byteSource)), limits(readLimits) {
    // Sizes in records have 32 bits, so vectors of this size suffice.
    limits.chunkBytes = std::min<std::uint64_t>(limits.chunkBytes, std::numeric_limits<std::uint32_t>::max());
    readPreamble();
    readHeader();
    if (!readIndex()) scan();
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (index[i].kind == RecordKind::Chunk) chunks.push_back(i);
    }
  }

  ByteSource source;
  TraceLimits limits;
  RecordDecompressor decompressor;
  TraceHeader header;
  std::vector<Error> warnings;
  std::vector<IndexEntry> index;
  std::vector<std::size_t> chunks;  ///< indices in `index`
  std::uint64_t firstRecord = 0;    ///< offset of the first record after the header
  std::uint64_t recordsEnd = 0;     ///< offset of the end of the last chunk or keyframe
  std::uint64_t eventCount = 0;
  std::optional<std::size_t> decodedChunk;
  std::vector<Event> decoded;

  Error error(std::string place, std::string found, std::string expected) const {
    return Error{source.name(), std::move(place), std::move(found), std::move(expected)};
  }
  [[noreturn]] void refuse(std::string place, std::string found, std::string expected) const {
    throw Failure(error(std::move(place), std::move(found), std::move(expected)));
  }
  static std::string bytePlace(std::uint64_t offset) { return "byte " + std::to_string(offset); }

  /// Returns "chunk 3" or "keyframe 1", counted from 1.
  std::string placeOf(std::size_t entry) const {
    const RecordKind kind = index[entry].kind;
    const auto count = std::count_if(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(entry) + 1,
                                     [kind](const IndexEntry& other) { return other.kind == kind; });
    return std::string(enumName(kind)) + " " + std::to_string(count);
  }

  /// Runs `read`. Adds the place from `place` to a failure, unless the failure names a file.
  template <class Place, class Read>
  static void within(Place place, Read read) {
    try {
      read();
    } catch (const Failure& failure) {
      Error what = failure.error();
      if (!what.file.empty()) throw;
      what.place = place() + (what.place.empty() ? "" : ", " + what.place);
      throw Failure(std::move(what));
    }
  }
  /// Works like within(), and adds the name of this file to a failure.
  template <class Place, class Read>
  void at(Place place, Read read) const {
    try {
      within(place, read);
    } catch (const Failure& failure) {
      Error what = failure.error();
      what.file = source.name();
      throw Failure(std::move(what));
    }
  }

  void readPreamble() {
    if (source.size() < kPreambleBytes) {
      refuse(bytePlace(0), counted(source.size(), "byte"),
             /*id:trace-file-least*/ "a trace file, with a min size of " + std::to_string(kPreambleBytes));
    }
    const std::vector<std::uint8_t> bytes = source.read(0, kPreambleBytes);
    if (!std::equal(kTraceMagic.begin(), kTraceMagic.end(), bytes.begin())) {
      refuse(bytePlace(0), "other first bytes", /*id:first-bytes-trace*/ "the first bytes of a trace file");
    }
    MemoryBudget none(0);
    ByteReader reader(std::span<const std::uint8_t>(bytes).subspan(kTraceMagic.size()), none);
    const auto version = reader.fixed<std::uint32_t>();
    const auto reserved = reader.fixed<std::uint32_t>();
    const auto schema = reader.fixed<std::uint64_t>();
    if (version != kTraceVersion) {
      refuse(bytePlace(8), "version " + std::to_string(version), "version " + std::to_string(kTraceVersion));
    }
    if (reserved != 0) refuse(bytePlace(12), std::to_string(reserved), "0");
    if (!isReadableSchema(schema))
      refuse(bytePlace(16), /*id:trace-other-fields*/ "a trace with other fields",
             /*id:fields-version-program*/ "the fields of this program version");
  }

  /// Reads a record. Throws Failure without a file name if there is no complete record between `offset` and
  /// `end`.
  Record readRecord(std::uint64_t offset, std::uint64_t end) {
    const auto cut = [](const std::string& found, const std::string& expected) {
      throw Failure(Error{"", "", found, expected});
    };
    const std::uint64_t left = end - offset;
    if (left < RecordHeader::kBytes) {
      cut(counted(left, "byte"), "a record, with a min size of " + std::to_string(RecordHeader::kBytes));
    }
    Record record;
    record.header = decodeRecordHeader(source.read(offset, RecordHeader::kBytes));
    if (record.header.rawBytes > limits.chunkBytes) {
      cut(std::to_string(record.header.rawBytes) + " bytes of content",
          "at most " + std::to_string(limits.chunkBytes));
    }
    if (record.header.storedBytes > left - RecordHeader::kBytes) {
      cut(counted(left - RecordHeader::kBytes, "byte"),
          counted(record.header.storedBytes, "byte") + " of content");
    }
    record.stored = source.read(offset + RecordHeader::kBytes, record.header.storedBytes);
    if (recordChecksum(record.header, record.stored) != record.header.checksum) {
      cut(/*id:content-not-fit*/ "content with a wrong checksum",
          /*id:content-written*/ "undamaged content");
    }
    return record;
  }

  /// Reads a value that takes the whole content of a record.
  template <class T>
  void readContent(const Record& record, T& value) {
    const std::vector<std::uint8_t> raw = decompressor.decompress(record.stored, record.header.rawBytes);
    MemoryBudget budget(limits.memoryBytes);
    ByteReader reader(raw, budget);
    readValue(reader, value);
    reader.setField("");
    if (reader.remaining() != 0) reader.fail(counted(reader.remaining(), "byte") + " more", "the end");
  }

  void readHeader() {
    at([] { return bytePlace(kPreambleBytes); },
       [this] {
         const Record record = readRecord(kPreambleBytes, source.size());
         if (record.header.kind != RecordKind::Header) {
           throw Failure(
               Error{"", "", std::string("a ") + std::string(enumName(record.header.kind)), "a header"});
         }
         readContent(record, header);
         firstRecord = kPreambleBytes + RecordHeader::kBytes + record.header.storedBytes;
       });
  }

  /// Reads the index. Returns false if the file has no end. The caller must then search for records.
  bool readIndex() {
    if (source.size() < firstRecord + RecordHeader::kBytes + kTrailerBytes) return false;
    const std::uint64_t trailerAt = source.size() - kTrailerBytes;
    const std::vector<std::uint8_t> trailer = source.read(trailerAt, kTrailerBytes);
    if (!std::equal(kTraceEnd.begin(), kTraceEnd.end(), trailer.begin() + sizeof(std::uint64_t)))
      return false;
    MemoryBudget none(0);
    const auto offset = ByteReader(trailer, none).fixed<std::uint64_t>();
    if (offset < firstRecord || offset > trailerAt) {
      refuse(bytePlace(trailerAt), "an index at byte " + std::to_string(offset),
             "bytes " + std::to_string(firstRecord) + " to " + std::to_string(trailerAt));
    }
    at([] { return std::string("index"); },
       [this, offset, trailerAt] {
         const Record record = readRecord(offset, trailerAt);
         if (record.header.kind != RecordKind::Index) {
           throw Failure(
               Error{"", "", std::string("a ") + std::string(enumName(record.header.kind)), "an index"});
         }
         if (offset + RecordHeader::kBytes + record.header.storedBytes != trailerAt) {
           throw Failure(Error{"", "", "bytes between the index and the end", "none"});
         }
         readContent(record, index);
         recordsEnd = offset;
         for (std::size_t i = 0; i < index.size(); ++i) checkEntry(i);
         if (index.empty() && offset != firstRecord) {
           throw Failure(Error{"", "", "bytes that belong to no record", "none"});
         }
       });
    return true;
  }

  /// Compares an entry with the previous entry. The description of the record is checked when the record is
  /// read.
  void checkEntry(std::size_t i) {
    const IndexEntry& entry = index[i];
    const auto wrong = [i](std::string found, std::string expected) {
      throw Failure(Error{"", "entry " + std::to_string(i + 1), std::move(found), std::move(expected)});
    };
    const std::uint64_t lowest = i == 0 ? firstRecord : index[i - 1].offset + RecordHeader::kBytes;
    if ((i == 0 && entry.offset != firstRecord) || entry.offset < lowest || entry.offset > recordsEnd ||
        recordsEnd - entry.offset < RecordHeader::kBytes) {
      wrong("a record at byte " + std::to_string(entry.offset), "adjacent records");
    }
    const bool chunk = entry.kind == RecordKind::Chunk;
    if ((!chunk && entry.kind != RecordKind::Keyframe) || (entry.count != 0) != chunk) {
      wrong("a " + std::string(enumName(entry.kind)) + " of " + counted(entry.count, "event"),
            /*id:chunk-events-keyframe*/ "a chunk with events, or a keyframe without events");
    }
    const std::uint64_t sequence = i == 0 ? 1 : index[i - 1].lastSequence;
    const std::int64_t time = i == 0 ? 0 : index[i - 1].lastTime;
    if (entry.firstSequence < sequence || entry.lastSequence < entry.firstSequence ||
        entry.firstTime < time || entry.lastTime < entry.firstTime) {
      wrong(/*id:sequence-numbers-times*/ "sequence numbers or times that go back",
            /*id:ascending-numbers-times*/ "ascending numbers and times");
    }
    eventCount += entry.count;
  }

  /// Finds complete records from the beginning. A record that cannot be read ends the search and gives a
  /// warning.
  void scan() {
    std::uint64_t offset = firstRecord;
    bool complete = false;
    try {
      while (offset < source.size()) {
        const Record record = readRecord(offset, source.size());
        const RecordHeader& found = record.header;
        if (found.kind == RecordKind::Index) {
          complete = true;
          break;
        }
        index.push_back(IndexEntry{found.kind, offset, found.count, found.firstSequence, found.lastSequence,
                                   found.firstTime, found.lastTime});
        recordsEnd = source.size();
        try {
          checkEntry(index.size() - 1);
        } catch (const Failure&) {
          index.pop_back();
          throw;
        }
        offset += RecordHeader::kBytes + found.storedBytes;
      }
      warnings.push_back(
          error(bytePlace(offset), /*id:recording-not-ended*/ "a recording without an end record",
                complete ? "the end record; no event is lost"
                         : /*id:end-stands-before*/ "the end record; all events so far are complete"));
    } catch (const Failure& failure) {
      warnings.push_back(
          error(bytePlace(offset), failure.error().found,
                failure.error().expected + /*id:stands-before-whole*/ "; all earlier events are complete"));
    }
    recordsEnd = offset;
  }

  std::uint64_t endOf(std::size_t entry) const {
    return entry + 1 < index.size() ? index[entry + 1].offset : recordsEnd;
  }

  Record readEntry(std::size_t i) {
    const IndexEntry& entry = index[i];
    Record record = readRecord(entry.offset, endOf(i));
    const RecordHeader& found = record.header;
    const IndexEntry said{found.kind,         entry.offset,    found.count,   found.firstSequence,
                          found.lastSequence, found.firstTime, found.lastTime};
    if (said != entry || entry.offset + RecordHeader::kBytes + found.storedBytes != endOf(i)) {
      throw Failure(Error{"", "", /*id:record-index-not*/ "a record that the index does not describe",
                          /*id:index-says*/ "the record of the index"});
    }
    return record;
  }

  /// Appends a chunk's events.
  void readChunk(std::size_t entry, MemoryBudget& budget, std::vector<Event>& events) {
    const Record record = readEntry(entry);
    const std::vector<std::uint8_t> raw = decompressor.decompress(record.stored, record.header.rawBytes);
    const std::size_t count = record.header.count;
    if (count > raw.size() / kMinimumEventBytes) {
      throw Failure(Error{"", "", counted(count, "event"),
                          "at most " + std::to_string(raw.size() / kMinimumEventBytes)});
    }
    budget.take(std::uint64_t{count} * sizeof(Event));
    ByteReader reader(raw, budget);
    EventCursor cursor{record.header.firstSequence, record.header.firstTime};
    const std::size_t needed = events.size() + count;
    if (needed > events.capacity()) events.reserve(std::max(needed, 2 * events.capacity()));
    for (std::size_t i = 0; i < count; ++i) {
      within([i] { return "event " + std::to_string(i + 1); },
             [&] { decodeEvent(reader, cursor, events.emplace_back()); });
    }
    reader.setField("");
    if (reader.remaining() != 0) reader.fail(counted(reader.remaining(), "byte") + " more", "the end");
    const Event& first = events[events.size() - count];
    if (first.sequence != record.header.firstSequence || cursor.sequence != record.header.lastSequence ||
        first.time != record.header.firstTime || cursor.time != record.header.lastTime) {
      throw Failure(Error{"", "", /*id:other-sequence-numbers*/ "events with other sequence numbers or times",
                          /*id:those-header*/ "the values of the header"});
    }
  }

  const std::vector<Event>& eventsOf(std::size_t entry) {
    if (decodedChunk != entry) {
      decodedChunk.reset();
      decoded.clear();
      MemoryBudget budget(limits.memoryBytes);
      at([&] { return placeOf(entry); }, [&] { readChunk(entry, budget, decoded); });
      decodedChunk = entry;
    }
    return decoded;
  }
};

TraceReader::TraceReader(const std::filesystem::path& path, const TraceLimits& limits)
    : m_impl(std::make_unique<Impl>(ByteSource(path), limits)) {}
TraceReader::TraceReader(std::vector<std::uint8_t> bytes, std::string name, const TraceLimits& limits)
    : m_impl(std::make_unique<Impl>(ByteSource(std::move(bytes), std::move(name)), limits)) {}
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

const TraceHeader& TraceReader::header() const {
  return m_impl->header;
}
const std::vector<Error>& TraceReader::warnings() const {
  return m_impl->warnings;
}
std::uint64_t TraceReader::eventCount() const {
  return m_impl->eventCount;
}
std::uint64_t TraceReader::firstSequence() const {
  return m_impl->chunks.empty() ? 0 : m_impl->index[m_impl->chunks.front()].firstSequence;
}
std::uint64_t TraceReader::lastSequence() const {
  return m_impl->chunks.empty() ? 0 : m_impl->index[m_impl->chunks.back()].lastSequence;
}
std::vector<Event> TraceReader::eventsFrom(std::uint64_t sequence, std::size_t limit) {
  Impl& impl = *m_impl;
  const auto first = std::partition_point(impl.chunks.begin(), impl.chunks.end(), [&](std::size_t entry) {
    return impl.index[entry].lastSequence < sequence;
  });
  std::vector<Event> events;
  for (auto chunk = first; chunk != impl.chunks.end() && events.size() < limit; ++chunk) {
    for (const Event& event : impl.eventsOf(*chunk)) {
      if (event.sequence < sequence) continue;
      if (events.size() == limit) break;
      events.push_back(event);
    }
  }
  return events;
}

TraceFile TraceReader::readAll() {
  Impl& impl = *m_impl;
  TraceFile file{impl.header, {}, impl.warnings};
  MemoryBudget budget(impl.limits.memoryBytes);
  // Reserves the memory for all events in one step. The size of the file limits the number, because the index
  // may be wrong.
  constexpr std::uint64_t kLikelyPerByte = 4;
  file.events.reserve(std::min(impl.eventCount, kLikelyPerByte * impl.source.size()));
  for (std::size_t i = 0; i < impl.index.size(); ++i) {
    impl.at([&] { return impl.placeOf(i); },
            [&] {
              if (impl.index[i].kind == RecordKind::Chunk) {
                impl.readChunk(i, budget, file.events);
              } else {
                impl.readEntry(i);
              }
            });
  }
  return file;
}

TraceFile readTrace(const std::filesystem::path& path, const TraceLimits& limits) {
  return TraceReader(path, limits).readAll();
}

TraceFile readTrace(std::span<const std::uint8_t> bytes, std::string name, const TraceLimits& limits) {
  return TraceReader(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), std::move(name), limits)
      .readAll();
}

}  // namespace spanscope::trace
