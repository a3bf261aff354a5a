// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::server {

/// With the letters A to Z as a to z.
std::string inSmallLetters(std::string_view text);
/// Without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

/// The request line and the header fields of a request, read strictly: two readers of the same bytes must not
/// understand two different requests (RFC 9112).
struct RequestHead {
  std::string method;
  /// As it was sent, with its percent signs. Of an absolute one ("http://host/path") it is the path; the host
  /// is the value of the field "host" then.
  std::string target;
  bool isOld = false;  ///< HTTP/1.0
  /// Names in small letters, with the bytes of their values, without blanks around them.
  std::vector<std::pair<std::string, std::string>> fields;
  std::uint64_t length = 0;  ///< of the body in bytes; 0 where it comes in chunks
  bool isChunked = false;
  bool closes = false;  ///< the client sends nothing more on this connection

  bool hasBody() const { return isChunked || length > 0; }
  /// The value of the first field of this name; empty: there is none.
  std::string_view value(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether a field that is a list has this entry; both in small letters.
  bool lists(std::string_view name, std::string_view entry) const;
};

/// Reads a head from its first byte to its empty line. Throws ApiFailure: 400 for what is not a head of HTTP
/// 1.0 or 1.1, with a control character, with two hosts, or with contradictory lengths; 413 for a body of
/// more than `mostBodyBytes`; 414 for a target of more than kMostTargetBytes; 415 for a body in several
/// parts.
RequestHead readHead(std::string_view text, std::size_t mostBodyBytes);
inline constexpr std::size_t kMostTargetBytes = 4096;

/// The head that the HTTP library gets in place of the client's. It has only the fields about the form of the
/// body and the connection: the library answers ranges, packs replies and parses forms at the client's wish.
std::string headForLibrary(const RequestHead& head);

}  // namespace spanscope::server
