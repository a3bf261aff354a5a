// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/upstream_link.h"

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/connection.h"

#include <curl/curl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

namespace spanscope::gateway {

namespace {

constexpr std::array<std::string_view, 9> kHopByHop{
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer",    "upgrade",    "http2-settings"};

[[noreturn]] void refuseAnswer(std::string found, std::string expected) {
  throw Failure(errorAt("answer", std::move(found), std::move(expected)));
}

std::string noConnection(CURLcode code) {
  return std::string("no connection (") + curl_easy_strerror(code) + ")";
}

/// Returns the next line of a head without its end. Some servers end lines with LF only.
std::string_view nextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) refuseAnswer("an incomplete head", "a head of HTTP/1.1");
  std::string_view line = text.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

bool isHopByHop(std::string_view name) {
  return std::ranges::find(kHopByHop, name) != kHopByHop.end();
}

BodyScanner::BodyScanner(Framing framing, std::uint64_t length) : m_framing(framing), m_left(length) {
  switch (framing) {
    case Framing::None:
      m_part = Part::End;
      break;
    case Framing::Length:
      m_part = length > 0 ? Part::Content : Part::End;
      break;
    case Framing::Chunked:
      m_part = Part::Size;
      m_left = 0;
      break;
    case Framing::UntilClose:
      m_part = Part::Content;
      break;
  }
}

std::size_t BodyScanner::take(std::string_view bytes, std::string& content) {
  std::size_t taken = 0;
  while (taken < bytes.size() && m_part != Part::End) {
    if (m_part == Part::Content || m_part == Part::Data) {
      const std::size_t rest = bytes.size() - taken;
      const bool isLimited = m_framing != Framing::UntilClose;
      const std::size_t count =
          isLimited ? static_cast<std::size_t>(std::min<std::uint64_t>(rest, m_left)) : rest;
      content.append(bytes.substr(taken, count));
      taken += count;
      if (m_part == Part::Data) m_inChunk += count;
      if (!isLimited) continue;
      m_left -= count;
      if (m_left == 0) m_part = m_part == Part::Data ? Part::DataEnd : Part::End;
      continue;
    }
    takeFrame(bytes[taken++]);
  }
  return taken;
}

/// Reads one letter outside of the data of a chunk.
void BodyScanner::takeFrame(char letter) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  ++m_inChunk;
  switch (m_part) {
    case Part::Size:
      if (const int digit = hexDigit(letter); digit >= 0) {
        m_left = m_left * 16 + static_cast<std::uint64_t>(digit);
        m_hasDigit = true;
        if (m_left > kMost) refuseAnswer("a chunk of more than 2^40 bytes", "a smaller chunk");
        return;
      }
      if (!m_hasDigit) refuseAnswer("a chunk without a size", "the size of the chunk in hexadecimal digits");
      m_part = Part::Extension;
      [[fallthrough]];
    case Part::Extension:
      if (letter != '\n') return;
      m_hasDigit = false;
      m_line = 0;
      m_part = m_left == 0 ? Part::Trailer : Part::Data;
      return;
    case Part::DataEnd:
      if (letter == '\r') return;
      if (letter != '\n') refuseAnswer("more bytes than the size of a chunk", "the end of the chunk");
      m_part = Part::Size;
      m_inChunk = 0;
      return;
    case Part::Trailer:
      if (letter == '\r') return;
      if (letter != '\n') {
        ++m_line;
        return;
      }
      if (m_line == 0) {
        m_part = Part::End;
        m_inChunk = 0;
      }
      m_line = 0;
      return;
    default:
      return;
  }
}

std::string_view UpstreamHead::value(std::string_view name) const {
  for (const Field& field : fields) {
    if (field.name == name) return field.value;
  }
  return {};
}

bool UpstreamHead::lists(std::string_view name, std::string_view entry) const {
  for (const Field& field : fields) {
    if (field.name != name) continue;
    for (const std::string_view part : splitAt(field.value, ',')) {
      if (inSmallLetters(trimmed(part)) == entry) return true;
    }
  }
  return false;
}

UpstreamHead readUpstreamHead(std::string_view text) {
  UpstreamHead head;
  const std::string_view line = nextLine(text);
  head.statusLine = line;
  const bool isHttp = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  if (isHttp && line.size() >= 12) {
    const std::string_view digits = line.substr(9, 3);
    std::from_chars(digits.data(), digits.data() + digits.size(), head.status);
  }
  if (head.status < 100) refuseAnswer("\"" + remote::shownReply(line) + "\"", "a status line of HTTP/1.1");
  while (!text.empty()) {
    const std::string_view field = nextLine(text);
    if (field.empty()) break;
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos)
      refuseAnswer("\"" + remote::shownReply(field) + "\"", "a header field");
    head.fields.push_back({.name = inSmallLetters(trimmed(field.substr(0, colon))),
                           .line = std::string(field),
                           .value = std::string(trimmed(field.substr(colon + 1)))});
  }
  return head;
}

BodyScanner bodyOf(const UpstreamHead& head, bool isHead) {
  constexpr int kNoContent = 204;
  constexpr int kNotModified = 304;
  if (isHead || head.status < 200 || head.status == kNoContent || head.status == kNotModified)
    return BodyScanner(Framing::None);
  if (head.lists("transfer-encoding", "chunked")) return BodyScanner(Framing::Chunked);
  const std::string_view length = head.value("content-length");
  if (length.empty()) return BodyScanner(Framing::UntilClose);
  std::uint64_t bytes = 0;
  const auto read = std::from_chars(length.data(), length.data() + length.size(), bytes);
  for (const UpstreamHead::Field& field : head.fields) {
    if (field.name == "content-length" && field.value != length)
      refuseAnswer("two Content-Length headers with different values", "one Content-Length");
  }
  if (read.ec != std::errc() || read.ptr != length.data() + length.size())
    refuseAnswer("Content-Length \"" + remote::shownReply(length) + "\"", "a number of bytes");
  return BodyScanner(Framing::Length, bytes);
}

struct UpstreamLink::Handle {
  struct Close {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  std::unique_ptr<CURL, Close> easy{curl_easy_init()};
};

UpstreamLink::UpstreamLink(const std::string& url, const remote::HttpAccess& access)
    : m_handle(std::make_unique<Handle>()), m_url(url) {
  const auto address = remote::readServerAddress(url);
  if (const auto* problem = std::get_if<Error>(&address)) throw Failure(*problem);
  CURL* const easy = m_handle->easy.get();
  if (easy == nullptr) throw Failure({url, {}, "no memory for a connection", "enough memory"});
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // curl makes the connection, with TLS and the proxy of the environment. The bytes come from this program.
  curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(access.limits.connect.count()));
  curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
  if (!access.certificateFile.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, access.certificateFile.c_str());
  if (std::get<remote::ServerAddress>(address).isLoopback) curl_easy_setopt(easy, CURLOPT_PROXY, "");
  const CURLcode code = curl_easy_perform(easy);
  if (code != CURLE_OK) throw Failure({url, {}, noConnection(code), "a connection to the server"});
  curl_socket_t socket = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket);
  if (socket == CURL_SOCKET_BAD) throw Failure({url, {}, "no connection", "a connection to the server"});
  m_descriptor = static_cast<int>(socket);
}

UpstreamLink::~UpstreamLink() = default;

std::size_t UpstreamLink::send(std::string_view bytes) {
  std::size_t sent = 0;
  const CURLcode code = curl_easy_send(m_handle->easy.get(), bytes.data(), bytes.size(), &sent);
  if (code == CURLE_AGAIN) return 0;
  if (code != CURLE_OK) throw Failure({m_url, {}, noConnection(code), "a server that accepts requests"});
  return sent;
}

std::size_t UpstreamLink::receive(std::string& into) {
  std::array<char, std::size_t{64} << 10U> buffer;  // NOLINT: recv writes the used bytes
  std::size_t count = 0;
  const CURLcode code = curl_easy_recv(m_handle->easy.get(), buffer.data(), buffer.size(), &count);
  if (code == CURLE_AGAIN) return 0;
  if (code != CURLE_OK) throw Failure({m_url, {}, noConnection(code), "the rest of the answer"});
  if (count == 0) m_hasEnded = true;
  into.append(buffer.data(), count);
  return count;
}

bool UpstreamLink::isFresh() const {
  pollfd asked{.fd = m_descriptor, .events = POLLIN | POLLRDHUP, .revents = 0};
  return !m_hasEnded && poll(&asked, 1, 0) == 0;
}

}  // namespace spanscope::gateway
