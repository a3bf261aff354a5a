// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the head of an HTTP request strictly. Open this file when a request is refused before its body is
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::server {

/// Returns the text with the letters A to Z as a to z.
std::string inSmallLetters(std::string_view text);
/// Returns the text without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

/// The request line and the header fields of a request, read strictly. Two readers of the same bytes must not
/// understand two different requests (RFC 9112).
struct RequestHead {
  std::string method;
  /// As sent, with its percent signs. An absolute target ("http://host/path") is reduced to its path. The
  /// host is then the value of the field "host".
  std::string target;
  bool isOld = false;  ///< HTTP/1.0
  /// Names in lower case, with the bytes of their values, without spaces around them.
  std::vector<std::pair<std::string, std::string>> fields;
  std::uint64_t length = 0;  ///< of the body in bytes; 0 if it arrives in chunks
  bool isChunked = false;
  bool closes = false;  ///< the client sends nothing more on this connection

  bool hasBody() const { return isChunked || length > 0; }
  /// Returns the value of the first field with this name. Empty: there is none.
  std::string_view value(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether a list field has this entry. Both are in lower case.
  bool lists(std::string_view name, std::string_view entry) const;
};

/// Reads a head from its first byte to its empty line. Throws ApiFailure with these statuses:
/// - 400: not a head of HTTP 1.0 or 1.1, a control character, two hosts, or contradictory lengths;
/// - 413: a body of more than `mostBodyBytes`;
/// - 414: a target of more than kMostTargetBytes;
/// - 415: a body in several parts.
RequestHead readHead(std::string_view text, std::size_t mostBodyBytes);
inline constexpr std::size_t kMostTargetBytes = 4096;

/// Returns the head for the HTTP library, which replaces the client's. It has only the fields about the form
/// of the body and the connection. With other fields, the library would answer ranges, compress answers and
/// parse forms.
std::string headForLibrary(const RequestHead& head);

}  // namespace spanscope::server
