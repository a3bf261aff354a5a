// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/passage.h"

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/planned_call.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

namespace spanscope::gateway {

namespace {

using server::ApiError;
using server::ApiFailure;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPassageTurn{50};
constexpr std::size_t kMostHeadBytes = std::size_t{256} << 10U;
/// A smaller answer is passed only as a whole, so that an error can replace the answer.
constexpr std::uint64_t kSmallAnswer = std::uint64_t{1} << 20U;
/// A smaller chunk is passed only as a whole, so that an error can follow the chunk.
constexpr std::size_t kSmallChunk = std::size_t{64} << 10U;

bool waitForLink(const UpstreamLink& link, short what, std::chrono::milliseconds most) {
  pollfd waiting{.fd = link.descriptor(), .events = what, .revents = 0};
  return poll(&waiting, 1, static_cast<int>(most.count())) > 0;
}

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{} s", static_cast<double>(time.count()) / 1000);
}

/// The fields of the list Connection, which are passed on neither.
bool isListed(std::string_view name, const std::vector<std::string>& listed) {
  return std::ranges::find(listed, name) != listed.end();
}

std::vector<std::string> listedIn(std::string_view value) {
  std::vector<std::string> names;
  for (const std::string_view part : splitAt(value, ',')) names.push_back(inSmallLetters(trimmed(part)));
  return names;
}

/// One passage in progress.
class Passage {
 public:
  Passage(server::Connection& client, UpstreamLink& link, const PassageRules& rules, PassageWatcher& watcher)
      : m_client(client), m_link(link), m_rules(rules), m_watcher(watcher) {}

  PassageEnd run(std::string_view bytes) {
    try {
      send(bytes);
      m_watcher.sent();
      readHead();
    } catch (const Failure&) {
      // The server closed the idle connection while the request was on its way.
      if (m_link.isReused && !m_hasReceived) throw StaleLink();
      throw;
    }
    m_watcher.begun(m_head);
    m_body = bodyOf(m_head, m_rules.isHead);
    m_isEvents = inSmallLetters(m_head.value("content-type")).starts_with("text/event-stream");
    m_holdsAll =
        m_body.framing() == Framing::Length && !m_isEvents && m_received.size() + lengthOf() <= kSmallAnswer;
    m_out = headForClient();
    return passBody();
  }

 private:
  enum class Left { Nothing, ByClient, ByUpstream, Interrupted };

  std::uint64_t lengthOf() const {
    std::uint64_t length = 0;
    for (const char digit : m_head.value("content-length"))
      length = length * 10 + static_cast<std::uint64_t>(digit - '0');
    return length;
  }

  void send(std::string_view bytes) {
    Clock::time_point until = Clock::now() + m_rules.limits.silence;
    while (!bytes.empty()) {
      const std::size_t count = m_link.send(bytes);
      bytes.remove_prefix(count);
      if (count > 0) {
        until = Clock::now() + m_rules.limits.silence;
        continue;
      }
      // The server may answer before it has read the whole request.
      if (waitForLink(m_link, POLLIN | POLLOUT, kPassageTurn) && waitForLink(m_link, POLLIN, kNow)) return;
      checkBeforeAnswer();
      if (Clock::now() > until)
        throw Failure({m_rules.upstream,
                       {},
                       "The server accepted no bytes for " + seconds(m_rules.limits.silence) + ".",
                       "Check that the server runs and reads requests."});
    }
  }

  /// Throws if the passage ends before the client has got a byte.
  void checkBeforeAnswer() {
    if (m_client.isClientGone()) throw ClientLeft();
    if (!m_rules.interruption) return;
    if (std::optional<ApiError> error = m_rules.interruption()) throw ApiFailure(std::move(*error));
  }

  void readHead() {
    const Clock::time_point until = Clock::now() + m_rules.limits.firstByte;
    while (true) {
      const std::size_t end = m_received.find("\r\n\r\n");
      const std::size_t bare = m_received.find("\n\n");
      if (const std::size_t found = std::min(end, bare); found != std::string::npos) {
        const std::size_t size = found + (found == end ? 4 : 2);
        m_head = readUpstreamHead(std::string_view(m_received).substr(0, size));
        m_received.erase(0, size);
        // Interim answers concern only this connection.
        if (m_head.status >= 200) return;
        continue;
      }
      if (m_received.size() > kMostHeadBytes)
        throw Failure({m_rules.upstream, "answer", "HTTP headers of more than 256 KiB", "shorter headers"});
      if (m_link.receive(m_received) > 0) {
        m_hasReceived = true;
        continue;
      }
      if (m_link.hasEnded()) throw Failure({m_rules.upstream, {}, "the end of the connection", "an answer"});
      if (!waitForLink(m_link, POLLIN, kPassageTurn)) m_watcher.waits();
      checkBeforeAnswer();
      if (Clock::now() > until)
        throw Failure({m_rules.upstream, "answer", "no data within " + seconds(m_rules.limits.firstByte),
                       "the first byte of the answer"});
    }
  }

  std::string headForClient() {
    m_closes = m_rules.closes || m_body.framing() == Framing::UntilClose || m_client.head().isOld;
    m_isUnchunked = m_client.head().isOld && m_body.framing() == Framing::Chunked;
    const std::vector<std::string> listed = listedIn(m_head.value("connection"));
    std::string text = "HTTP/1.1" + m_head.statusLine.substr(8) + "\r\n";
    for (const UpstreamHead::Field& field : m_head.fields) {
      if (isHopByHop(field.name) || isListed(field.name, listed)) continue;
      if (m_isUnchunked && field.name == "transfer-encoding") continue;
      text += field.line + "\r\n";
    }
    for (const std::string& line : m_rules.extraLines) text += line + "\r\n";
    if (m_closes) text += "Connection: close\r\n";
    return text + "\r\n";
  }

  PassageEnd passBody() {
    Left left = takeReceived();
    Clock::time_point until = Clock::now() + m_rules.limits.silence;
    while (left == Left::Nothing && !m_body.isComplete()) {
      std::size_t count = 0;
      try {
        count = m_link.receive(m_received);
      } catch (const Failure& failure) {
        m_problem = failure.error().found;
        left = Left::ByUpstream;
        break;
      }
      if (count > 0) {
        until = Clock::now() + m_rules.limits.silence;
        left = takeReceived();
        continue;
      }
      if (m_link.hasEnded()) {
        if (m_body.framing() == Framing::UntilClose) break;
        m_problem = "the connection ended in the middle of the answer";
        left = Left::ByUpstream;
      } else if (waitForLink(m_link, POLLIN, kPassageTurn)) {
        continue;
      } else if (m_client.isClientGone()) {
        left = Left::ByClient;
      } else if (m_rules.interruption && (m_interruption = m_rules.interruption())) {
        left = Left::Interrupted;
      } else if (Clock::now() > until) {
        m_problem = "no data for " + seconds(m_rules.limits.silence);
        left = Left::ByUpstream;
      }
    }
    return end(left);
  }

  /// Passes the received bytes on.
  Left takeReceived() {
    std::string content;
    std::size_t taken = 0;
    try {
      taken = m_body.take(m_received, content);
    } catch (const Failure& failure) {
      m_problem = failure.error().found;
      return Left::ByUpstream;
    }
    m_hasMore = taken < m_received.size();
    m_out += m_isUnchunked ? content : m_received.substr(0, taken);
    m_received.erase(0, taken);
    if (!content.empty()) m_isAtEventEnd = content.ends_with("\n\n") || content.ends_with("\r\n\r\n");
    if (m_holdsAll && !m_body.isComplete()) {
      m_held += content;
      return Left::Nothing;
    }
    const std::size_t inChunk = m_isUnchunked ? 0 : m_body.bytesInChunk();
    const std::size_t kept = inChunk < kSmallChunk ? std::min(inChunk, m_out.size()) : 0;
    const std::size_t count = m_out.size() - kept;
    if (count > 0 && !m_client.writeAll(std::string_view(m_out).substr(0, count))) return Left::ByClient;
    m_hasWritten |= count > 0;
    m_out.erase(0, count);
    m_held += content;
    if (!m_held.empty()) m_watcher.came(std::exchange(m_held, {}));
    return Left::Nothing;
  }

  PassageEnd end(Left left) {
    PassageEnd ended{.keepsClient = !m_closes};
    switch (left) {
      case Left::Nothing:
        if (!m_out.empty() && !m_client.writeAll(m_out)) return clientGone();
        ended.keepsUpstream = m_body.framing() != Framing::UntilClose && !m_hasMore &&
                              !m_head.lists("connection", "close") &&
                              m_head.statusLine.starts_with("HTTP/1.1");
        return ended;
      case Left::ByClient:
        return clientGone();
      case Left::ByUpstream:
        ended.how = PassageEnd::How::UpstreamBroke;
        ended.problem = m_problem;
        if (!m_hasWritten) throw Failure({m_rules.upstream, "answer", m_problem, "the rest of the answer"});
        ended.keepsClient = endByError(brokenAnswer(m_rules.upstream, m_problem)) && !m_closes;
        return ended;
      case Left::Interrupted:
        ended.how = PassageEnd::How::Interrupted;
        ended.problem = m_interruption->message;
        if (!m_hasWritten) throw ApiFailure(*m_interruption);
        ended.keepsClient = endByError(*m_interruption) && !m_closes;
        return ended;
    }
    return ended;
  }

  static PassageEnd clientGone() {
    return {.how = PassageEnd::How::ClientGone,
            .problem = "The client has disconnected.",
            .keepsClient = false,
            .keepsUpstream = false};
  }

  /// Ends a begun answer with an error. Returns whether the client sees the end of the answer.
  bool endByError(const ApiError& error) {
    const bool isInChunk =
        m_body.framing() == Framing::Chunked && !m_isUnchunked && m_body.bytesInChunk() >= kSmallChunk;
    if (!m_isEvents || isInChunk) return false;
    std::string event = m_isAtEventEnd ? "" : "\n\n";
    event += server::eventOf(server::errorJson(error)) + server::kDone;
    if (m_body.framing() != Framing::Chunked || m_isUnchunked) {
      m_client.writeAll(event);
      return false;
    }
    return m_client.writeAll(fmt::format("{:x}\r\n", event.size()) + event + "\r\n0\r\n\r\n");
  }

 public:
  struct ClientLeft {};

 private:
  static constexpr std::chrono::milliseconds kNow{0};

  server::Connection& m_client;
  UpstreamLink& m_link;
  const PassageRules& m_rules;
  PassageWatcher& m_watcher;
  UpstreamHead m_head;
  BodyScanner m_body;
  std::string m_received;  ///< bytes of the upstream server that were not looked at
  std::string m_out;       ///< bytes that the client gets next
  std::string m_held;      ///< content that the watcher gets next
  std::string m_problem;
  std::optional<ApiError> m_interruption;
  bool m_isEvents = false;
  bool m_holdsAll = false;
  bool m_isAtEventEnd = true;
  bool m_isUnchunked = false;
  bool m_closes = false;
  bool m_hasReceived = false;
  bool m_hasWritten = false;
  bool m_hasMore = false;  ///< the server sent more than its answer
};

}  // namespace

std::string bytesFor(const PassedRequest& request, const server::RequestHead& head,
                     const UpstreamTarget& target) {
  std::string text = head.method + " " + target.target + " HTTP/1.1\r\nHost: " + target.host + "\r\n";
  std::vector<std::string> listed;
  for (const auto& [name, value] : head.fields) {
    if (name == "connection") std::ranges::move(listedIn(value), std::back_inserter(listed));
  }
  std::string_view lines = request.head;
  lines.remove_prefix(std::min(lines.find('\n') + 1, lines.size()));
  bool hasKey = false;
  for (std::string_view line : splitAt(lines, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string name = inSmallLetters(trimmed(line.substr(0, line.find(':'))));
    if (isHopByHop(name) || isListed(name, listed) || name == "host" || name == "expect") continue;
    const bool isLength = name == "content-length" || name == "transfer-encoding";
    if (request.isChanged && isLength) continue;
    const bool isKey = name == "authorization";
    if (isKey && !target.passesKey) continue;
    hasKey |= isKey || name == "x-api-key" || name == "api-key";
    text += line;
    text += "\r\n";
  }
  if (!hasKey && !target.key.empty()) text += "Authorization: Bearer " + target.key + "\r\n";
  if (request.isChanged) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + (request.isChanged ? request.body : request.bodyBytes);
}

bool readBody(server::Connection& client, std::size_t mostBytes, PassedRequest& request) {
  const server::RequestHead& head = client.head();
  if (!head.hasBody()) return true;
  if (!head.isOld && head.lists("expect", "100-continue") &&
      !client.writeAll("HTTP/1.1 100 Continue\r\n\r\n"))
    return false;
  BodyScanner scanner(head.isChunked ? Framing::Chunked : Framing::Length, head.length);
  std::array<char, 8192> buffer;  // NOLINT: read() writes the used bytes
  while (!scanner.isComplete()) {
    // A byte after the body would belong to the next request.
    const std::size_t most =
        head.isChunked ? 1
                       : std::min<std::size_t>(buffer.size(),
                                               static_cast<std::size_t>(head.length) - request.body.size());
    const ssize_t count = client.read(buffer.data(), most);
    if (count <= 0) return false;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    try {
      scanner.take(bytes, request.body);
    } catch (const Failure& failure) {
      throw ApiFailure(
          {.message = "The body cannot be read. " +
                      withPeriod(problemSentence(failure.error().found, failure.error().expected)),
           .code = "bad_request"});
    }
    request.bodyBytes += bytes;
    if (request.body.size() > mostBytes) throw ApiFailure(server::bodyTooLarge(mostBytes));
  }
  return true;
}

ApiError brokenAnswer(const std::string& upstream, const std::string& problem) {
  return {.status = 502,
          .message = "The upstream server " + upstream + " did not complete its answer: " + problem + ".",
          .type = "upstream_error",
          .code = "upstream_broken"};
}

PassageEnd pass(server::Connection& client, UpstreamLink& link, std::string_view bytes,
                const PassageRules& rules, PassageWatcher& watcher) {
  try {
    return Passage(client, link, rules, watcher).run(bytes);
  } catch (const Passage::ClientLeft&) {
    return {.how = PassageEnd::How::ClientGone,
            .problem = "The client has disconnected.",
            .keepsClient = false,
            .keepsUpstream = false};
  }
}

}  // namespace spanscope::gateway
