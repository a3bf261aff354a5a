// SPDX-License-Identifier: GPL-3.0-or-later
// Splits files into records.
#include "engine/doctor/log_reader.h"

#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/doctor/recorded_requests.h"
#include "engine/doctor/records/json_members.h"
#include "engine/doctor/transcript.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ios>
#include <istream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <sstream>
#include <streambuf>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace spanscope::doctor {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18U;
/// The form of a file is recognized from this many bytes.
constexpr std::size_t kPeek = std::size_t{4} << 20U;

/// Unpacks a gzip file piece by piece. A damaged file ends with an exception, which makes the stream bad.
class GzipBuffer final : public std::streambuf {
 public:
  explicit GzipBuffer(std::unique_ptr<std::istream> packed)
      : m_packed(std::move(packed)), m_in(kPiece, '\0'), m_out(kPiece, '\0') {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, and gzip's header and checksum around it
    m_isReady = inflateInit2(&m_stream, kGzipWindow) == Z_OK;
  }
  ~GzipBuffer() override {
    if (m_isReady) inflateEnd(&m_stream);
  }
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

 protected:
  int_type underflow() override {
    if (!m_isReady) throw std::bad_alloc();
    std::size_t got = 0;
    while (got == 0) {
      if (m_stream.avail_in == 0) {
        m_packed->read(m_in.data(), static_cast<std::streamsize>(m_in.size()));
        m_stream.next_in = reinterpret_cast<Bytef*>(m_in.data());
        m_stream.avail_in = static_cast<uInt>(m_packed->gcount());
        if (m_stream.avail_in == 0) {
          if (m_isAtEnd) return traits_type::eof();
          throw std::ios_base::failure("the compressed data is incomplete");
        }
      }
      // A file may contain several gzip streams in sequence.
      if (m_isAtEnd && inflateReset(&m_stream) != Z_OK) throw std::bad_alloc();
      m_stream.next_out = reinterpret_cast<Bytef*>(m_out.data());
      m_stream.avail_out = static_cast<uInt>(m_out.size());
      const int state = inflate(&m_stream, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
        throw std::ios_base::failure("damaged data");
      m_isAtEnd = state == Z_STREAM_END;
      got = m_out.size() - m_stream.avail_out;
    }
    setg(m_out.data(), m_out.data(), m_out.data() + got);
    return traits_type::to_int_type(m_out.front());
  }

 private:
  std::unique_ptr<std::istream> m_packed;
  std::string m_in;
  std::string m_out;
  z_stream m_stream{};
  bool m_isReady = false;
  bool m_isAtEnd = false;
};

class GzipStream final : public std::istream {
 public:
  explicit GzipStream(std::unique_ptr<std::istream> packed)
      : std::istream(nullptr), m_buffer(std::move(packed)) {
    rdbuf(&m_buffer);
  }

 private:
  GzipBuffer m_buffer;
};

/// Returns the stream, or the unpacked stream if it begins like gzip, or the requests of a trace as lines.
std::unique_ptr<std::istream> unpacked(std::unique_ptr<std::istream> stream, const LogSource& source) {
  std::array<char, 8> beginning{};
  stream->read(beginning.data(), beginning.size());
  stream->clear();
  stream->seekg(0);
  if (isTrace({beginning.data(), beginning.size()}))
    return std::make_unique<std::istringstream>(
        source.path.empty() ? requestsOfTrace(source.text, source.name) : requestsOfTrace(source.path));
  const bool isPacked = beginning[0] == '\x1F' && beginning[1] == '\x8B';
  if (!isPacked) return stream;
  return std::make_unique<GzipStream>(std::move(stream));
}

std::unique_ptr<std::istream> openSource(const LogSource& source) {
  if (source.path.empty()) return unpacked(std::make_unique<std::istringstream>(source.text), source);
  std::error_code error;
  if (std::filesystem::is_directory(source.path, error))
    throw Failure({source.name, {}, "a folder", "a log file"});
  auto file = std::make_unique<std::ifstream>(source.path, std::ios::binary);
  if (!*file) throw Failure({source.name, {}, systemReport(errno), "a log file that can be read"});
  return unpacked(std::move(file), source);
}

std::string_view withoutPrompt(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with("$ ")) line.remove_prefix(2);
  return line;
}

bool isCurl(std::string_view line) {
  line = withoutPrompt(line);
  return line.starts_with("curl ") || line.starts_with("curl\t");
}

/// Whether a line is a whole JSON object or list.
bool isWholeJson(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || (line.front() != '{' && line.front() != '[')) return false;
  std::size_t depth = 0;
  bool inText = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (inText) {
      if (c == '\\') ++i;
      if (c == '"') inText = false;
    } else if (c == '"') {
      inText = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) return i + 1 == line.size();
    }
  }
  return false;
}

/// Whether the file has one record per line. Otherwise it is a JSON document over several lines.
bool hasLines(std::string_view beginning, bool isWholeFile) {
  const std::string_view text = trimmed(withoutByteOrderMark(beginning));
  if (text.empty()) return true;
  if (text.front() != '{' && text.front() != '[') return true;
  // If the first line is damaged, most of the others are whole records. In a document over several lines,
  // most lines are pieces.
  constexpr std::size_t kMostLines = 64;
  std::size_t whole = 0;
  std::size_t others = 0;
  bool isFirst = true;
  for (std::size_t at = 0; at < text.size() && others < kMostLines;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end == text.size() && !isWholeFile) break;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (trimmed(line).empty()) continue;
    const bool isWhole = isWholeJson(line);
    if (isFirst && isWhole) return true;
    if (!isFirst) {
      ++others;
      whole += isWhole && line.front() == '{' ? 1 : 0;
    }
    isFirst = false;
  }
  return 2 * whole > others;
}

struct RawRecord {
  std::string text;
  std::uint64_t begin = 0;
  std::uint64_t line = 1;
};

/// Gets records and problems of one file.
struct RecordSink {
  std::function<bool(RawRecord&&)> take;  ///< returns false to end
  std::function<void(std::uint64_t line, std::string found)> problem;
};

std::string tooLong() {
  return "a record of more than " + std::to_string(kMaxRecordBytes >> 20U) + " MiB";
}

/// Whether a shell command goes on in the next line.
bool isOpenCommand(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'') {
      ++i;
      if (i >= text.size() || text.substr(i) == "\n" || text.substr(i) == "\r\n") return true;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    }
  }
  return quote != '\0';
}

class LineSplitter {
 public:
  explicit LineSplitter(const RecordSink& sink) : m_sink(sink) {}

  /// Returns false if the sink wants no more.
  bool feed(std::string_view piece) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      const std::string_view part = piece.substr(0, end == std::string_view::npos ? end : end + 1);
      if (m_pending.size() + part.size() > kMaxRecordBytes) {
        m_isTooLong = true;
        m_pending.clear();
      }
      if (!m_isTooLong) m_pending += part;
      m_offset += part.size();
      piece.remove_prefix(part.size());
      if (end != std::string_view::npos && !endLine()) return false;
    }
    return true;
  }
  bool finish() {
    m_atEnd = true;
    return (m_pending.empty() && !m_isTooLong) || endLine();
  }

 private:
  bool endLine() {
    ++m_lines;
    if (m_isTooLong) {
      m_sink.problem(m_first, tooLong());
      return restart();
    }
    if (!m_atEnd && isCurl(m_pending) && isOpenCommand(m_pending)) return true;
    std::string_view text = trimmed(withoutByteOrderMark(m_pending));
    if (text.empty() || text.front() == '#') return restart();
    RawRecord record{.text = std::string(text), .begin = m_begin, .line = m_first};
    record.begin += static_cast<std::uint64_t>(text.data() - m_pending.data());
    return m_sink.take(std::move(record)) && restart();
  }
  bool restart() {
    m_pending.clear();
    m_isTooLong = false;
    m_begin = m_offset;
    m_first = m_lines + 1;
    return true;
  }

  const RecordSink& m_sink;
  std::string m_pending;
  std::uint64_t m_offset = 0;
  std::uint64_t m_begin = 0;
  std::uint64_t m_lines = 0;
  std::uint64_t m_first = 1;
  bool m_isTooLong = false;
  bool m_atEnd = false;
};

/// The lists of records in a document, as the names on the way to them.
constexpr std::array<std::string_view, 9> kRecordLists{"",
                                                       "log.entries",
                                                       "entries",
                                                       "requests",
                                                       "records",
                                                       "logs",
                                                       "data",
                                                       "resourceSpans.scopeSpans.spans",
                                                       "resource_spans.scope_spans.spans"};

/// Splits a JSON document without reading it as a whole.
class DocumentSplitter {
 public:
  explicit DocumentSplitter(const RecordSink& sink) : m_sink(sink) {}

  bool feed(std::string_view piece) {
    for (const char c : piece) {
      if (!step(c)) return false;
      ++m_offset;
      if (c == '\n') ++m_line;
    }
    return true;
  }
  bool finish() {
    if (!m_stack.empty() || m_depth > 0) m_sink.problem(m_rootLine, "an incomplete JSON document");
    return true;
  }

 private:
  struct Frame {
    bool isList = false;
    bool holdsRecords = false;
    std::string key;
  };
  static constexpr std::size_t kMostFrames = 12;

  bool step(char c) {
    if (m_inText) {
      keep(c);
      if (m_isEscaped) {
        m_isEscaped = false;
      } else if (c == '\\') {
        m_isEscaped = true;
      } else if (c == '"') {
        m_inText = false;
      }
      if (m_inText && m_isKey && m_key.size() < 32) m_key += c;
      return true;
    }
    switch (c) {
      case '"':
        m_inText = true;
        m_isKey = m_depth == m_stack.size() && !m_stack.empty() && !m_stack.back().isList && m_wantsKey;
        if (m_isKey) m_key.clear();
        keep(c);
        return true;
      case '{':
      case '[':
        return open(c);
      case '}':
      case ']':
        return close(c);
      case ':':
        if (m_isKey && m_depth == m_stack.size() && !m_stack.empty()) m_stack.back().key = m_key;
        m_isKey = false;
        m_wantsKey = false;
        break;
      case ',':
        m_wantsKey = true;
        break;
      default:
        if (m_depth == 0 && static_cast<unsigned char>(c) > ' ' && !m_isGarbage && m_offset > 3) {
          m_isGarbage = true;
          m_sink.problem(m_line, "text that is not JSON");
        }
    }
    keep(c);
    return true;
  }

  bool open(char c) {
    if (m_depth == 0) {
      m_rootLine = m_line;
      m_isGarbage = false;
      begin(m_root);
      m_isRoot = true;
    } else if (!m_inRecord && m_depth == m_stack.size() && m_stack.back().holdsRecords) {
      // The document is a list of records, so it is no record itself.
      m_isRoot = false;
      m_root.text.clear();
      m_root.text.shrink_to_fit();
      begin(m_record);
      m_inRecord = true;
      m_recordDepth = m_depth;
    }
    keep(c);
    if (m_depth == m_stack.size() && m_stack.size() < kMostFrames && !m_inRecord) {
      Frame frame{.isList = c == '[', .holdsRecords = false, .key = {}};
      frame.holdsRecords = frame.isList && std::ranges::find(kRecordLists, path()) != kRecordLists.end();
      m_stack.push_back(std::move(frame));
    }
    ++m_depth;
    m_wantsKey = c == '{';
    if (m_depth > kMaxRecordDepth) m_tooDeep = true;
    return true;
  }

  bool close(char c) {
    keep(c);
    if (m_depth == 0) return true;
    if (m_depth == m_stack.size()) m_stack.pop_back();
    --m_depth;
    m_wantsKey = false;
    if (m_inRecord && m_depth == m_recordDepth) {
      m_inRecord = false;
      return end(m_record);
    }
    if (m_depth == 0 && m_isRoot) return end(m_root);
    if (m_depth == 0) m_tooDeep = false;
    return true;
  }

  std::string path() const {
    std::string names;
    for (const Frame& frame : m_stack) {
      if (!frame.isList) names += (names.empty() ? "" : ".") + frame.key;
    }
    return names;
  }
  void begin(RawRecord& record) {
    record = {.text = {}, .begin = m_offset, .line = m_line};
    m_isTooLong = false;
    m_tooDeep = false;
  }
  void keep(char c) {
    if (m_depth == 0 && c != '{' && c != '[') return;
    RawRecord* record = m_inRecord ? &m_record : m_isRoot ? &m_root : nullptr;
    if (record == nullptr || m_isTooLong || m_tooDeep) return;
    record->text += c;
    if (record->text.size() > kMaxRecordBytes) {
      m_isTooLong = true;
      record->text.clear();
      record->text.shrink_to_fit();
    }
  }
  bool end(RawRecord& record) {
    const bool isBad = m_isTooLong || m_tooDeep;
    if (isBad)
      m_sink.problem(record.line, m_isTooLong
                                      ? tooLong()
                                      : "JSON of more than " + std::to_string(kMaxRecordDepth) + " levels");
    m_isTooLong = false;
    m_tooDeep = false;
    if (&record == &m_root) m_isRoot = false;
    return isBad || m_sink.take(std::exchange(record, {}));
  }

  const RecordSink& m_sink;
  std::vector<Frame> m_stack;  ///< outside of records
  std::size_t m_depth = 0;
  std::size_t m_recordDepth = 0;
  std::uint64_t m_offset = 0;
  std::uint64_t m_line = 1;
  std::uint64_t m_rootLine = 1;
  RawRecord m_root;
  RawRecord m_record;
  std::string m_key;
  bool m_isRoot = false;
  bool m_inRecord = false;
  bool m_inText = false;
  bool m_isEscaped = false;
  bool m_isKey = false;
  bool m_wantsKey = false;
  bool m_isTooLong = false;
  bool m_tooDeep = false;
  bool m_isGarbage = false;
};

template <class Splitter>
void split(std::istream& file, std::string piece, const RecordSink& sink, const std::stop_token& stop,
           const std::string& name) {
  Splitter splitter(sink);
  bool goesOn = splitter.feed(piece);
  while (goesOn && file && !stop.stop_requested()) {
    piece.resize(kPiece);
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(file.gcount()));
    goesOn = splitter.feed(piece);
  }
  if (file.bad()) throw Failure({name, {}, "an error while reading", "a log file that can be read"});
  if (goesOn && !stop.stop_requested()) splitter.finish();
}

}  // namespace

/// Knows which response each request continues. Keeps the messages of the last requests, and only the places
/// of all others.
class LogReader::Responses {
 public:
  using Messages = std::shared_ptr<const std::vector<Message>>;

  /// The place of the request that `request` continues. Nothing: the log does not have it.
  std::optional<LogPlace> before(const LoggedRequest& request) {
    const std::lock_guard lock(m_mutex);
    const auto known = m_before.find(keyOf(request.place));
    if (known != m_before.end()) return known->second;
    // Later requests can have the same id, so that the place found first stays.
    const auto found = m_places.find(request.previous);
    return m_before[keyOf(request.place)] =
               found == m_places.end() ? std::nullopt : std::optional(found->second);
  }
  /// A later request can continue this one by the id of its response, or by the id of its conversation.
  void add(const LoggedRequest& request) {
    const std::lock_guard lock(m_mutex);
    if (!request.response.empty()) m_places[request.response] = request.place;
    if (!request.previous.empty() && m_conversations.contains(request.previous))
      m_places[request.previous] = request.place;
  }
  /// Returns whether the id is a conversation of the log, which this request begins.
  bool beginsConversation(const LoggedRequest& request) {
    const std::lock_guard lock(m_mutex);
    if (request.previous != request.conversation) return false;
    const Key key = keyOf(request.place);
    return m_conversations.insert({request.previous, key}).first->second == key;
  }
  Messages messages(const LogPlace& place) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_kept.find(keyOf(place));
    return found == m_kept.end() ? nullptr : found->second;
  }
  void keep(const LogPlace& place, Messages messages) {
    const std::lock_guard lock(m_mutex);
    for (const Message& message : *messages)
      for (const Part& part : message.parts) m_bytes += part.text.size() + sizeof(Part);
    if (m_bytes > kMostBytes) {
      m_kept.clear();
      m_bytes = 0;
    }
    m_kept[keyOf(place)] = std::move(messages);
  }

 private:
  using Key = std::tuple<std::size_t, std::uint64_t, std::uint32_t>;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
  static Key keyOf(const LogPlace& place) { return {place.file, place.begin, place.part}; }

  std::mutex m_mutex;
  std::unordered_map<std::string, LogPlace>
      m_places;  ///< of responses, and of the last request of conversations
  std::unordered_map<std::string, Key> m_conversations;  ///< the first request of each
  std::map<Key, std::optional<LogPlace>> m_before;
  std::map<Key, Messages> m_kept;
  std::size_t m_bytes = 0;
};

/// The order of the requests by their starts. All lists are empty if the log has no times.
struct LogReader::Times {
  std::vector<bool> isConcurrent;      ///< by the number of a request in the log, from 0
  std::vector<std::uint32_t> ranks;    ///< the place in the order; empty: the order of the log
  std::vector<std::uint32_t> numbers;  ///< by rank
  std::vector<LogPlace> places;        ///< by number
};

/// Passes the requests of a log in the order of their starts. Holds a request until all earlier ones came. If
/// the held requests get too large, the missing one is read ahead.
class LogReader::Sorter {
 public:
  Sorter(const LogReader& reader, const Times& times, const std::function<void(LoggedRequest&&)>& take,
         const std::stop_token& stop)
      : m_reader(reader), m_times(times), m_take(take), m_stop(stop) {}

  /// Takes the next request of the log.
  void add(LoggedRequest&& request) {
    const std::size_t number = m_number++;
    // The file has grown.
    if (number >= m_times.isConcurrent.size()) return m_take(std::move(request));
    request.isConcurrent = m_times.isConcurrent[number];
    if (m_times.ranks.empty()) return m_take(std::move(request));
    const std::uint32_t rank = m_times.ranks[number];
    if (rank < m_next) return;  // it was read ahead
    m_bytes += bytesIn(request);
    m_held.emplace(rank, std::move(request));
    pass();
    while (m_bytes > kMostHeld && !m_stop.stop_requested()) {
      readAhead();
      pass();
    }
  }
  /// Passes the rest if the file has become shorter.
  void finish() {
    while (!m_held.empty() && !m_stop.stop_requested()) {
      m_next = m_held.begin()->first;
      pass();
    }
  }

 private:
  static constexpr std::size_t kMostHeld = std::size_t{64} << 20U;

  static std::size_t bytesIn(const LoggedRequest& request) {
    std::size_t bytes = sizeof(LoggedRequest);
    for (const Message& message : request.messages)
      for (const Part& part : message.parts) bytes += part.text.size() + sizeof(Part);
    return bytes;
  }
  void pass() {
    while (!m_held.empty() && m_held.begin()->first == m_next && !m_stop.stop_requested()) {
      LoggedRequest request = std::move(m_held.extract(m_held.begin()).mapped());
      m_bytes -= bytesIn(request);
      ++m_next;
      m_take(std::move(request));
    }
  }
  void readAhead() {
    const std::uint32_t number = m_times.numbers[m_next++];
    LoggedRequest request = m_reader.again(m_times.places[number]);
    request.isConcurrent = m_times.isConcurrent[number];
    m_take(std::move(request));
  }

  const LogReader& m_reader;
  const Times& m_times;
  const std::function<void(LoggedRequest&&)>& m_take;
  const std::stop_token& m_stop;
  std::map<std::uint32_t, LoggedRequest> m_held;  ///< by rank
  std::size_t m_bytes = 0;
  std::size_t m_number = 0;
  std::uint32_t m_next = 0;  ///< rank
};

LogReader::LogReader(std::vector<LogSource> sources)
    : m_sources(std::move(sources)),
      m_responses(std::make_shared<Responses>()),
      m_times(std::make_shared<Times>()) {}

void LogReader::learnTimes(const std::stop_token& stop) const {
  constexpr std::size_t kTried = 64;
  struct TimedRequest {
    LogPlace place;
    std::int64_t start = 0;
    std::optional<RunningTime> running;
    std::string upstream;
  };
  std::vector<TimedRequest> known;
  bool hasTimes = false;
  std::stop_source enough;
  {
    const std::stop_callback pass(stop, [&enough] { enough.request_stop(); });
    readAsWritten(
        [&](LoggedRequest&& request) {
          hasTimes = hasTimes || request.running.has_value();
          if (!hasTimes && known.size() == kTried) enough.request_stop();
          // A request without a start stays after the request before it.
          std::int64_t start = std::numeric_limits<std::int64_t>::min();
          if (!known.empty() && known.back().place.file == request.place.file) start = known.back().start;
          if (request.running && request.running->isExact) start = request.running->begin;
          // A failed request occupies no slot.
          const bool isServed = request.failure.empty();
          known.push_back({.place = request.place,
                           .start = start,
                           .running = isServed ? request.running : std::nullopt,
                           .upstream = std::move(request.upstream)});
        },
        [](const LogProblem&) {}, enough.get_token());
  }
  if (!hasTimes || stop.stop_requested()) return;
  Times times;
  times.isConcurrent.resize(known.size());
  times.numbers.resize(known.size());
  std::iota(times.numbers.begin(), times.numbers.end(), 0U);
  std::ranges::stable_sort(times.numbers, {}, [&](std::uint32_t number) {
    return std::pair(known[number].place.file, known[number].start);
  });
  // As in Lookup: a request without the name of a server goes to the server of the request before it.
  std::map<std::string, std::vector<std::uint32_t>> servers;
  std::string last;
  for (const TimedRequest& one : known)
    if (last.empty()) last = one.upstream;
  for (const std::uint32_t number : times.numbers) {
    if (!known[number].upstream.empty()) last = known[number].upstream;
    if (known[number].running) servers[last].push_back(number);
  }
  for (auto& [name, numbers] : servers) {
    std::ranges::stable_sort(numbers, {}, [&](std::uint32_t number) { return known[number].running->begin; });
    std::uint32_t longest = numbers.front();
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      const std::int64_t begin = known[numbers[i]].running->begin;
      if (known[longest].running->surelyUntil() > begin) times.isConcurrent[numbers[i]] = true;
      if (known[numbers[i - 1]].running->surelyUntil() > begin) times.isConcurrent[numbers[i - 1]] = true;
      if (known[numbers[i]].running->surelyUntil() > known[longest].running->surelyUntil())
        longest = numbers[i];
    }
  }
  if (std::ranges::is_sorted(times.numbers)) {
    times.numbers.clear();
  } else {
    times.ranks.resize(known.size());
    for (std::uint32_t rank = 0; rank < times.numbers.size(); ++rank) times.ranks[times.numbers[rank]] = rank;
    for (const TimedRequest& one : known) times.places.push_back(one.place);
  }
  *m_times = std::move(times);
}

void LogReader::read(const std::function<void(LoggedRequest&&)>& take,
                     const std::function<void(const LogProblem&)>& problem,
                     const std::stop_token& stop) const {
  Sorter sorter(*this, *m_times, take, stop);
  readAsWritten([&](LoggedRequest&& request) { sorter.add(std::move(request)); }, problem, stop);
  sorter.finish();
}

void LogReader::readAsWritten(const std::function<void(LoggedRequest&&)>& take,
                              const std::function<void(const LogProblem&)>& problem,
                              const std::stop_token& stop) const {
  for (std::size_t index = 0; index < m_sources.size() && !stop.stop_requested(); ++index) {
    const auto pass = [&](LoggedRequest&& request) {
      if (request.isIncomplete)
        problem({.file = index,
                 .line = request.place.line,
                 .found = "a request whose log lacks sections of the prompt, such as tools; its prompt is "
                          "incomplete"});
      if (!request.previous.empty()) {
        const bool isFirst = m_responses->beginsConversation(request);
        const bool isKnown = m_responses->before(request).has_value() || isFirst;
        if (!isKnown)
          problem(
              {.file = index,
               .line = request.place.line,
               .found =
                   "a request that continues a response which is not in the log; its prompt is incomplete"});
        continueResponse(request);
      }
      m_responses->add(request);
      take(std::move(request));
    };
    Transcript transcript(pass);
    const RecordSink sink{
        .take =
            [&](RawRecord&& record) {
              LogPlace place{
                  .file = index, .line = record.line, .begin = record.begin, .bytes = record.text.size()};
              if (transcript.couldBe(record.text) && transcript.add(parseWithinLimits(record.text), place))
                return !stop.stop_requested();
              std::string found;
              std::vector<LoggedRequest> requests = requestsOf(record.text, found);
              if (!found.empty()) problem({.file = index, .line = record.line, .found = found});
              for (LoggedRequest& request : requests) {
                if (stop.stop_requested()) return false;
                place.part = request.place.part;
                request.place = place;
                pass(std::move(request));
              }
              return !stop.stop_requested();
            },
        .problem =
            [&](std::uint64_t line, std::string found) {
              problem({.file = index, .line = line, .found = std::move(found)});
            }};
    const std::unique_ptr<std::istream> file = openSource(m_sources[index]);
    std::string beginning(kPeek, '\0');
    file->read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
    beginning.resize(static_cast<std::size_t>(file->gcount()));
    if (hasLines(beginning, !*file)) {
      split<LineSplitter>(*file, std::move(beginning), sink, stop, m_sources[index].name);
    } else {
      split<DocumentSplitter>(*file, std::move(beginning), sink, stop, m_sources[index].name);
    }
    if (!stop.stop_requested()) transcript.finish();
  }
}

/// Adds the messages that the server has from earlier responses. Instructions are not kept by servers.
void LogReader::continueResponse(LoggedRequest& request) const {
  std::vector<LoggedRequest> chain;  // the request and those before it, without history
  Responses::Messages history;
  std::optional<LogPlace> place = m_responses->before(request);
  constexpr std::size_t kMostLinks = 10'000;
  while (place && chain.size() < kMostLinks) {
    history = m_responses->messages(*place);
    if (history != nullptr) break;
    chain.push_back(asWritten(*place));
    place = chain.back().previous.empty() ? std::nullopt : m_responses->before(chain.back());
  }
  for (; !chain.empty(); chain.pop_back()) {
    LoggedRequest& one = chain.back();
    auto messages = history == nullptr ? std::vector<Message>() : *history;
    const auto first = one.messages.begin() + (one.hasInstructions ? 1 : 0);
    messages.insert(messages.end(), first, one.messages.end());
    if (one.answer) messages.push_back(*one.answer);
    history = std::make_shared<const std::vector<Message>>(std::move(messages));
    m_responses->keep(one.place, history);
  }
  if (history != nullptr)
    request.messages.insert(request.messages.begin() + (request.hasInstructions ? 1 : 0), history->begin(),
                            history->end());
}

LoggedRequest LogReader::again(const LogPlace& place) const {
  LoggedRequest request = asWritten(place);
  if (!request.previous.empty()) continueResponse(request);
  return request;
}

LoggedRequest LogReader::asWritten(const LogPlace& place) const {
  const LogSource& source = m_sources[place.file];
  const std::unique_ptr<std::istream> file = openSource(source);
  // Packed data have no places to go to.
  if (dynamic_cast<std::ifstream*>(file.get()) == nullptr &&
      dynamic_cast<std::istringstream*>(file.get()) == nullptr)
    file->ignore(static_cast<std::streamsize>(place.begin));
  else
    file->seekg(static_cast<std::streamoff>(place.begin));
  std::string text(place.bytes, '\0');
  file->read(text.data(), static_cast<std::streamsize>(text.size()));
  std::optional<LoggedRequest> found;
  if (static_cast<std::size_t>(file->gcount()) == text.size()) {
    if (place.isTranscript) {
      Transcript transcript([&](LoggedRequest&& request) { found = std::move(request); }, place.line);
      const RecordSink sink{
          .take =
              [&](RawRecord&& record) {
                if (transcript.couldBe(record.text))
                  transcript.add(parseWithinLimits(record.text),
                                 {.line = record.line, .begin = record.begin, .bytes = record.text.size()});
                return true;
              },
          .problem = [](std::uint64_t, const std::string&) {}};
      LineSplitter splitter(sink);
      splitter.feed(text);
      splitter.finish();
      transcript.finish();
    } else {
      std::string problem;
      for (LoggedRequest& request : requestsOf(text, problem))
        if (request.place.part == place.part) found = std::move(request);
    }
  }
  if (!found)
    throw Failure({source.name, "line " + std::to_string(place.line),
                   "a different text than at the first read",
                   "a file that does not change during the diagnosis"});
  found->place = place;
  return std::move(*found);
}

std::string modelNameOf(const LogReader& log, const std::stop_token& stop) {
  constexpr int kMostRequests = 64;  // a log can be large
  std::string name;
  int requests = 0;
  std::stop_source found;
  const std::stop_callback pass(stop, [&found] { found.request_stop(); });
  log.read(
      [&](LoggedRequest&& request) {
        name = request.servedModel();
        if (!name.empty() || ++requests == kMostRequests) found.request_stop();
      },
      [](const LogProblem&) {}, found.get_token());
  return name;
}

}  // namespace spanscope::doctor
