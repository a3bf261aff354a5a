// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/connection.h"

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/answer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>

namespace spanscope::server {

namespace {

thread_local Connection* t_connection = nullptr;

using Clock = std::chrono::steady_clock;

int millisecondsUntil(Clock::time_point until) {
  constexpr std::chrono::milliseconds kMost{3'600'000};
  const auto left = until - std::min(until, Clock::now());
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left);
  return static_cast<int>(std::min<std::chrono::milliseconds>(rounded, kMost).count());
}

void addressOf(const sockaddr_storage& storage, std::string& address, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    sockaddr_in own{};
    std::memcpy(&own, &storage, sizeof own);
    inet_ntop(AF_INET, &own.sin_addr, text.data(), text.size());
    port = ntohs(own.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    sockaddr_in6 own{};
    std::memcpy(&own, &storage, sizeof own);
    inet_ntop(AF_INET6, &own.sin6_addr, text.data(), text.size());
    port = ntohs(own.sin6_port);
  }
  address = text.data();
}

}  // namespace

Connection* currentConnection() {
  return t_connection;
}

void setCurrentConnection(Connection* connection) {
  t_connection = connection;
}

Connection::Connection(int descriptor, SSL_CTX* tls, const ServerLimits& limits)
    : m_descriptor(descriptor), m_limits(limits) {
  const int flags = fcntl(descriptor, F_GETFL, 0);
  fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (tls == nullptr) return;
  m_ssl.reset(SSL_new(tls));
  if (m_ssl) SSL_set_fd(m_ssl.get(), descriptor);
}

Connection::~Connection() {
  m_ssl.reset();
  close(m_descriptor);
}

bool Connection::waitFor(short what, Clock::time_point until) const {
  pollfd waiting{.fd = m_descriptor, .events = what, .revents = 0};
  while (true) {
    const int found = poll(&waiting, 1, millisecondsUntil(until));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

bool Connection::greet() {
  if (!m_ssl) return true;
  const Clock::time_point until = Clock::now() + m_limits.toRead;
  while (true) {
    ERR_clear_error();
    const int result = SSL_accept(m_ssl.get());
    if (result == 1) return true;
    const int error = SSL_get_error(m_ssl.get(), result);
    const bool wants = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    if (!wants || !waitFor(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until)) return false;
  }
}

bool Connection::awaitRequest(std::chrono::milliseconds most) {
  if (m_begin < m_end) return true;
  m_fault = ReadFault::None;
  const ssize_t count = receive(m_buffer.data(), m_buffer.size(), Clock::now() + most);
  m_begin = 0;
  m_end = count > 0 ? static_cast<std::size_t>(count) : 0;
  return count > 0;
}

void Connection::beginRequest() {
  m_bodyBytes = 0;
  m_readUntil = Clock::now() + m_limits.toRead;
  m_fault = ReadFault::None;
  m_hasWritten = false;
}

void Connection::endRequest() {
  m_head = {};
  m_front.clear();
  m_frontTaken = 0;
  m_room.reduceTo(0);
}

/// Reads the next bytes of the client into the empty buffer. False: there are no more bytes.
bool Connection::fill() {
  const ssize_t count = receive(m_buffer.data(), m_buffer.size(), nextByteUntil());
  m_begin = 0;
  m_end = count > 0 ? static_cast<std::size_t>(count) : 0;
  return count > 0;
}

Connection::Clock::time_point Connection::nextByteUntil() const {
  constexpr int kPausesToRead = 4;
  // Other requests wait for the memory of a large body, so the client must not pause for long.
  return m_room ? std::min(m_readUntil, Clock::now() + m_limits.toRead / kPausesToRead) : m_readUntil;
}

std::optional<std::string> Connection::readHeadText() {
  std::string text;
  std::size_t lineLength = 0;
  while (m_begin < m_end || fill()) {
    while (m_begin < m_end) {
      const char letter = m_buffer[m_begin++];
      text += letter;
      if (text.size() > m_limits.headBytes) {
        m_fault = ReadFault::HeadTooLong;
        return std::nullopt;
      }
      if (letter == '\n') {
        if (lineLength == 0) return text;
        lineLength = 0;
      } else if (letter != '\r') {
        ++lineLength;
      }
    }
  }
  return std::nullopt;
}

void Connection::setHead(RequestHead head, bool isForLibrary) {
  m_head = std::move(head);
  m_front = isForLibrary ? headForLibrary(m_head) : std::string();
  m_frontTaken = 0;
}

void Connection::beginBody(Gate::Pass room) {
  m_room = std::move(room);
  m_readUntil = Clock::now() + m_limits.toRead;
}

bool Connection::isClientGone() const {
  // After stopReading(), the closed side is the server's side.
  const short closed = m_hasStopped ? short{0} : short{POLLRDHUP};
  pollfd asked{.fd = m_descriptor, .events = closed, .revents = 0};
  return poll(&asked, 1, 0) > 0 && (asked.revents & (closed | POLLHUP | POLLERR | POLLNVAL)) != 0;
}

void Connection::end() const {
  shutdown(m_descriptor, SHUT_RDWR);
}

void Connection::stopReading() {
  m_hasStopped = true;
  shutdown(m_descriptor, SHUT_RD);
}

void Connection::stopWriting() const {
  shutdown(m_descriptor, SHUT_WR);
}

void Connection::closeGently() {
  // Unread data in a closed socket resets the connection, and the answer may be lost.
  constexpr std::chrono::milliseconds kMost{500};
  constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
  if (m_ssl) SSL_shutdown(m_ssl.get());
  stopWriting();
  const Clock::time_point until = Clock::now() + kMost;
  std::size_t left = kMostBytes;
  while (left > 0 && waitFor(POLLIN, until)) {
    const ssize_t count = recv(m_descriptor, m_buffer.data(), m_buffer.size(), 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return;
    left -= std::min(left, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

bool Connection::is_readable() const {
  return m_frontTaken < m_front.size() || m_begin < m_end || (m_ssl && SSL_pending(m_ssl.get()) > 0) ||
         waitFor(POLLIN, nextByteUntil());
}

bool Connection::is_writable() const {
  return !isClientGone() && waitFor(POLLOUT, Clock::now() + m_limits.toStall);
}

ssize_t Connection::receive(char* into, std::size_t size, Clock::time_point until) {
  while (true) {
    short wanted = POLLIN;
    if (m_ssl) {
      ERR_clear_error();
      std::size_t count = 0;
      const int result = SSL_read_ex(m_ssl.get(), into, size, &count);
      if (result == 1) return static_cast<ssize_t>(count);
      const int error = SSL_get_error(m_ssl.get(), result);
      if (error == SSL_ERROR_ZERO_RETURN) return 0;
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return -1;
      if (error == SSL_ERROR_WANT_WRITE) wanted = POLLOUT;
    } else {
      const ssize_t count = recv(m_descriptor, into, size, 0);
      if (count >= 0) return count;
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    }
    if (!waitFor(wanted, until)) {
      m_fault = ReadFault::TooSlow;
      return -1;
    }
  }
}

ssize_t Connection::read(char* into, std::size_t size) {
  if (m_fault != ReadFault::None) return -1;
  if (m_frontTaken < m_front.size()) {
    const std::size_t count = m_front.copy(into, size, m_frontTaken);
    m_frontTaken += count;
    return static_cast<ssize_t>(count);
  }
  if (m_begin == m_end && !fill()) return m_fault == ReadFault::None ? 0 : -1;
  const std::size_t count = std::min(size, m_end - m_begin);
  // The library does not limit the number of chunks. The chunk framing may take at most as many bytes as the
  // body.
  m_bodyBytes += count;
  if (m_bodyBytes > 2 * m_limits.bodyBytes + m_limits.headBytes) {
    m_fault = ReadFault::BodyTooLong;
    return -1;
  }
  std::memcpy(into, m_buffer.data() + m_begin, count);
  m_begin += count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  m_hasWritten = true;
  const Clock::time_point until = Clock::now() + m_limits.toStall;
  while (true) {
    short wanted = POLLOUT;
    if (m_ssl) {
      ERR_clear_error();
      std::size_t count = 0;
      const int result = SSL_write_ex(m_ssl.get(), from, size, &count);
      if (result == 1) return static_cast<ssize_t>(count);
      const int error = SSL_get_error(m_ssl.get(), result);
      if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return -1;
      if (error == SSL_ERROR_WANT_READ) wanted = POLLIN;
    } else {
      const ssize_t count = send(m_descriptor, from, size, MSG_NOSIGNAL);
      if (count >= 0) return count;
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return -1;
    }
    if (!waitFor(wanted, until)) return -1;
  }
}

bool Connection::writeAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

void Connection::get_remote_ip_and_port(std::string& address, int& port) const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(m_descriptor, reinterpret_cast<sockaddr*>(&storage), &length) == 0)
    addressOf(storage, address, port);
}

void Connection::get_local_ip_and_port(std::string& address, int& port) const {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getsockname(m_descriptor, reinterpret_cast<sockaddr*>(&storage), &length) == 0)
    addressOf(storage, address, port);
}

std::shared_ptr<SSL_CTX> tlsContext(const std::string& certificate, const std::string& privateKey) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const auto refuse = [](const std::string& file, const std::string& expected,
                         const char* found = "other content") {
    ERR_clear_error();
    // The library's messages are clear only to readers of its source code.
    if (!file.empty() && ::access(file.c_str(), R_OK) != 0)
      throw Failure({file, {}, systemReport(errno), expected});
    throw Failure({file, {}, found, expected});
  };
  ERR_clear_error();
  if (!context) refuse({}, "TLS from the library OpenSSL");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    refuse(certificate, /*id:certificate-pem-form*/ "a certificate in PEM form");
  if (SSL_CTX_use_PrivateKey_file(context.get(), privateKey.c_str(), SSL_FILETYPE_PEM) != 1)
    refuse(privateKey, "a private key in PEM form");
  if (SSL_CTX_check_private_key(context.get()) != 1)
    refuse(privateKey, "the key of the certificate " + certificate, "another key");
  return context;
}

void Gate::Pass::reduceTo(std::uint64_t amount) {
  if (m_gate == nullptr || amount >= m_amount) return;
  m_gate->leave(m_amount - amount);
  m_amount = amount;
}

Gate::Pass Gate::enter(std::uint64_t amount, const std::function<bool()>& gaveUp) {
  constexpr std::chrono::milliseconds kTurn{50};
  amount = std::min(amount, m_most);
  std::unique_lock lock(m_mutex);
  const auto place = m_queue.insert(m_queue.end(), amount);
  bool isOver = false;
  while (!isOver && (place != m_queue.begin() || m_used + amount > m_most)) {
    lock.unlock();
    isOver = gaveUp();
    lock.lock();
    if (!isOver && (place != m_queue.begin() || m_used + amount > m_most)) m_changed.wait_for(lock, kTurn);
  }
  m_queue.erase(place);
  m_changed.notify_all();
  if (isOver) return {};
  m_used += amount;
  return {this, amount};
}

std::size_t Gate::waiting() {
  const std::lock_guard lock(m_mutex);
  return m_queue.size();
}

void Gate::leave(std::uint64_t amount) {
  const std::lock_guard lock(m_mutex);
  m_used -= amount;
  m_changed.notify_all();
}

namespace {

constexpr std::string_view kBlanks = " \t\r";

/// The characters of a method or the name of a field (RFC 9110, section 5.6.2).
bool isToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char letter) {
    return isDigit(letter) || isLetter(letter) || kOthers.find(letter) != std::string_view::npos;
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
  if (std::ranges::any_of(line, isControl)) refuseHead("The head of the request has a control character.");
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

/// Divides an absolute target into host and path (RFC 9112, section 3.2.2). Clients of a proxy send such
/// targets.
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

/// The number of Content-Length. A number of more than 64 bits becomes the max number.
std::uint64_t lengthOf(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    refuseHead("'Content-Length' must be a whole number of bytes; the client sent '" +
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
      refuseHead("This server reads no 'Transfer-Encoding' except chunked.", "unsupported_encoding");
    head.isChunked = true;
  }
  if (lengths > 0) head.length = lengthOf(head.value("content-length"));
  if (head.length > mostBodyBytes) throw ApiFailure(bodyTooLarge(mostBodyBytes));
}

}  // namespace

std::string_view RequestHead::value(std::string_view name) const {
  for (const auto& [own, value] : fields) {
    if (own == name) return value;
  }
  return {};
}

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(fields, [&](const auto& field) { return field.first == name; }));
}

bool RequestHead::lists(std::string_view name, std::string_view entry) const {
  for (const auto& [own, value] : fields) {
    if (own != name) continue;
    for (const std::string_view part : splitAt(value, ',')) {
      if (inSmallLetters(trimmed(part)) == entry) return true;
    }
  }
  return false;
}

RequestHead readHead(std::string_view text, std::size_t mostBodyBytes, bool takesParts) {
  RequestHead head;
  readRequestLine(takeLine(text), head);
  for (std::string_view line = takeLine(text); !line.empty(); line = takeLine(text)) readField(line, head);
  if (head.count("host") > 1) refuseHead("The request has more than one 'Host'.");
  readAbsoluteTarget(head);
  readLength(head, mostBodyBytes);
  if (!takesParts && inSmallLetters(head.value("content-type")).starts_with("multipart/"))
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
