// SPDX-License-Identifier: GPL-3.0-or-later
// A connection to an upstream server that carries the bytes of HTTP unchanged. Open this file when bytes of a
// passed request or answer differ between the two sides.
#pragma once

#include "engine/remote/http/http_client.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::gateway {

/// How the end of a body is marked (RFC 9112, section 6).
enum class Framing : std::uint8_t { None, Length, Chunked, UntilClose };

/// Finds the end of a body and the chunks of a body, without changing a byte.
class BodyScanner {
 public:
  BodyScanner() = default;
  /// `length`: for Framing::Length, in bytes.
  explicit BodyScanner(Framing framing, std::uint64_t length = 0);

  /// Reads bytes of the body. Appends the content, without the framing of chunks, to `content`. Returns the
  /// number of bytes that belong to the body. Throws Failure if the framing of a chunk is damaged.
  std::size_t take(std::string_view bytes, std::string& content);
  /// Whether the body has ended. A body with Framing::UntilClose never ends here.
  bool isComplete() const { return m_part == Part::End; }
  /// The number of bytes since the last end of a chunk. 0 for other framings.
  std::size_t bytesInChunk() const { return m_inChunk; }
  Framing framing() const { return m_framing; }

 private:
  enum class Part : std::uint8_t { Size, Extension, Data, DataEnd, Trailer, Content, End };
  void takeFrame(char letter);

  Framing m_framing = Framing::None;
  Part m_part = Part::End;
  std::uint64_t m_left = 0;  ///< bytes of the current chunk, or of the body
  bool m_hasDigit = false;   ///< whether the size of the chunk has a digit
  std::size_t m_line = 0;    ///< letters in the current line of a trailer
  std::size_t m_inChunk = 0;
};

/// The status line and the header fields of an answer.
struct UpstreamHead {
  std::string statusLine;  ///< without its end
  int status = 0;
  struct Field {
    std::string name;  ///< in lower case
    std::string line;  ///< as sent, without its end
    std::string value;
  };
  std::vector<Field> fields;  ///< in order

  std::string_view value(std::string_view name) const;
  /// Whether a list field has this entry. Both are in lower case.
  bool lists(std::string_view name, std::string_view entry) const;
};

/// Reads a head with its empty line. Throws Failure for a text that is no head of HTTP 1.0 or 1.1.
UpstreamHead readUpstreamHead(std::string_view text);

/// Returns the framing of the body of an answer. `isHead`: the request was HEAD. Throws Failure for
/// contradictory lengths.
BodyScanner bodyOf(const UpstreamHead& head, bool isHead);

/// Whether a header field concerns only one connection, so that it is not passed on (RFC 9110, section
/// 7.6.1). `name` is in lower case.
bool isHopByHop(std::string_view name);

/// Only one thread at a time may use a link.
class UpstreamLink {
 public:
  /// Opens a connection. Throws Failure if there is no connection within `access.limits.connect`. The file of
  /// the error is the address.
  UpstreamLink(const std::string& url, const remote::HttpAccess& access);
  ~UpstreamLink();
  UpstreamLink(const UpstreamLink&) = delete;
  UpstreamLink& operator=(const UpstreamLink&) = delete;

  /// Sends some of the bytes. Returns their number; 0: the server does not take bytes now. Throws Failure if
  /// the connection is broken.
  std::size_t send(std::string_view bytes);
  /// Appends received bytes to `into`, at most 64 KiB. Returns their number; 0: no byte has arrived, or
  /// hasEnded() is true. Throws Failure if the connection is broken.
  std::size_t receive(std::string& into);
  bool hasEnded() const { return m_hasEnded; }
  /// For poll().
  int descriptor() const { return m_descriptor; }
  /// Whether an idle connection can carry another request: the server has neither closed it nor sent bytes.
  bool isFresh() const;
  /// The time of the last use.
  std::chrono::steady_clock::time_point usedAt = std::chrono::steady_clock::now();
  /// Whether an earlier request used this connection.
  bool isReused = false;

 private:
  struct Handle;
  std::unique_ptr<Handle> m_handle;
  std::string m_url;
  int m_descriptor = -1;
  bool m_hasEnded = false;
};

}  // namespace spanscope::gateway
