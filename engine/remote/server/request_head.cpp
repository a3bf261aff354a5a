// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/request_head.h"

#include "engine/base/utf8.h"
#include "engine/remote/server/api_error.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace spanscope::server {
namespace {

constexpr std::string_view kBlanks = " \t\r";

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// The characters of a method or the name of a field (RFC 9110, section 5.6.2).
bool isToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z') || kOthers.find(letter) != std::string_view::npos;
  });
}

bool isControl(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte < 0x20 && letter != '\t') || byte == 0x7F;
}

[[noreturn]] void refuseHead(std::string message, std::string code = "bad_request", int status = 400) {
  throw ApiFailure({.status = status, .message = std::move(message), .code = std::move(code)});
}

/// The next line without its end, which must be CR LF.
std::string_view takeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end == 0 || text[end - 1] != '\r')
    refuseHead("A line of the head of the request does not end with CR LF.");
  const std::string_view line = text.substr(0, end - 1);
  text.remove_prefix(end + 1);
  if (std::any_of(line.begin(), line.end(), isControl))
    refuseHead("The head of the request has a control character.");
  return line;
}

void readRequestLine(std::string_view line, RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  const bool hasParts = first != std::string_view::npos && first < last;
  const std::string_view version = hasParts ? line.substr(last + 1) : std::string_view();
  const std::string_view target = hasParts ? line.substr(first + 1, last - first - 1) : std::string_view();
  const bool isKnown = version == "HTTP/1.1" || version == "HTTP/1.0";
  if (!isKnown || !isToken(line.substr(0, first)) || target.empty() ||
      target.find_first_of(kBlanks) != std::string_view::npos)
    refuseHead("The request does not begin with a request line of HTTP/1.1.");
  if (target.size() > kMostTargetBytes)
    refuseHead("The address may have at most " + std::to_string(kMostTargetBytes) + " bytes.",
               "address_too_long", 414);
  head.method = line.substr(0, first);
  head.target = target;
  head.isOld = version == "HTTP/1.0";
}

/// Divides an absolute target, which clients of a proxy send, into host and path (RFC 9112, section 3.2.2).
void readAbsoluteTarget(RequestHead& head) {
  constexpr std::string_view kSchemes[] = {"http://", "https://"};
  for (const std::string_view scheme : kSchemes) {
    if (inSmallLetters(std::string_view(head.target).substr(0, scheme.size())) != scheme) continue;
    const std::string rest = head.target.substr(scheme.size());
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    if (end == 0) refuseHead("The address of the request has no host.");
    head.target = (end < rest.size() && rest[end] == '/' ? "" : "/") + rest.substr(end);
    // With an absolute target, the Host field is ignored.
    std::erase_if(head.fields, [](const auto& field) { return field.first == "host"; });
    head.fields.emplace_back("host", rest.substr(0, end));
    return;
  }
}

void readField(std::string_view line, RequestHead& head) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !isToken(line.substr(0, colon)))
    refuseHead("A header of the request has no name: it must be 'Name: value'.");
  head.fields.emplace_back(inSmallLetters(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
}

/// The number of Content-Length. A larger number than 64 bits hold becomes the max number.
std::uint64_t lengthOf(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    refuseHead("'Content-Length' must be a whole number of bytes; this one is '" +
                   toValidUtf8(std::string(digits)) + "'.",
               "invalid_content_length");
  std::uint64_t length = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return read.ec == std::errc() ? length : std::numeric_limits<std::uint64_t>::max();
}

void readLength(RequestHead& head, std::size_t mostBodyBytes) {
  const std::size_t lengths = head.count("content-length");
  const std::size_t codings = head.count("transfer-encoding");
  if (lengths + codings > 1)
    refuseHead("The length of the body is given more than once ('Content-Length', 'Transfer-Encoding').",
               "invalid_content_length");
  if (codings > 0) {
    if (head.isOld || inSmallLetters(head.value("transfer-encoding")) != "chunked")
      refuseHead("This server reads no 'Transfer-Encoding' but chunked.", "unsupported_encoding");
    head.isChunked = true;
  }
  if (lengths > 0) head.length = lengthOf(head.value("content-length"));
  if (head.length > mostBodyBytes)
    refuseHead("The body may have at most " + std::to_string(mostBodyBytes) + " bytes.", "body_too_large",
               413);
}

}  // namespace

std::string inSmallLetters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), lower);
  return small;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view RequestHead::value(std::string_view name) const {
  for (const auto& [own, value] : fields) {
    if (own == name) return value;
  }
  return {};
}

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; }));
}

bool RequestHead::lists(std::string_view name, std::string_view entry) const {
  for (const auto& [own, value] : fields) {
    if (own != name) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (inSmallLetters(trimmed(rest.substr(0, end))) == entry) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return false;
}

RequestHead readHead(std::string_view text, std::size_t mostBodyBytes) {
  RequestHead head;
  readRequestLine(takeLine(text), head);
  for (std::string_view line = takeLine(text); !line.empty(); line = takeLine(text)) readField(line, head);
  if (head.count("host") > 1) refuseHead("The request has more than one 'Host'.");
  readAbsoluteTarget(head);
  readLength(head, mostBodyBytes);
  if (inSmallLetters(head.value("content-type")).starts_with("multipart/"))
    refuseHead("This server takes no bodies in several parts; send JSON.", "unsupported_media_type", 415);
  head.closes = head.lists("connection", "close") || (head.isOld && !head.lists("connection", "keep-alive"));
  return head;
}

std::string headForLibrary(const RequestHead& head) {
  std::string text = head.method + ' ' + head.target + (head.isOld ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
  // Without a length, the library reads the bodies of some methods until the client closes.
  text += head.isChunked ? "Transfer-Encoding: chunked\r\n"
                         : "Content-Length: " + std::to_string(head.length) + "\r\n";
  if (head.closes)
    text += "Connection: close\r\n";
  else if (head.isOld)
    text += "Connection: Keep-Alive\r\n";
  if (!head.isOld && head.hasBody() && head.lists("expect", "100-continue"))
    text += "Expect: 100-continue\r\n";
  return text + "\r\n";
}

}  // namespace spanscope::server
